"""Strings, members of enumerations and None as the state of loops and branches on data."""

import enum

import torch
from torch import nn

from tests.harness import program, vec

VALUES = [
    lambda: (vec(4, 3),),
    lambda: (vec(-4, -3),),
    lambda: (vec(0.01, 0.02),),
    lambda: (vec(8, -9),),
    lambda: (vec(0.9, 0.1),),
]


class State(enum.Enum):
    CLOSED = "closed"
    OPEN = "open"
    HALF = "half"

    def __str__(self):
        return f"<{self.value}>"


class Code(enum.IntEnum):
    OK = 0
    WARN = 1
    BAD = 2


@program(inputs=VALUES, grad=True)
def status_of_a_loop(x):
    status = "running"
    while x.abs().max() > 0.5:
        x = x * 0.5
        if x.sum() < 0:
            status = "negative"
        elif x.max() < 1:
            status = "small"
    return x, status


@program(inputs=VALUES)
def arms_of_a_machine(x):
    mode = "search"
    best = x.abs().sum()
    for _ in range(12):
        if mode == "search":
            y = x * 0.7
            if y.abs().sum() < 2:
                mode = "descend"
        elif mode == "descend":
            y = x - 0.1 * x.sign()
            if y.abs().sum() < 0.5:
                mode = "done"
        else:
            break
        x = y
        best = torch.minimum(best, x.abs().sum())
    return x, best, mode


@program(inputs=VALUES, grad=True)
def gradients_by_mode(x):
    mode = "square"
    y = x
    for _ in range(6):
        if mode == "square":
            y = y * y * 0.3
        elif mode == "sine":
            y = torch.sin(y)
        else:
            y = y + 1
        if y.sum() > 1:
            mode = "sine"
        elif y.sum() < 0.2:
            mode = "add"
    return y, mode


@program(inputs=[lambda: (torch.linspace(-3, 3, 20),), lambda: (torch.ones(20),), lambda: (-torch.ones(20),)])
def members_over_rows(xs):
    state = State.CLOSED
    count = 0
    for v in xs:
        if v > 0 and state == State.CLOSED:
            state = State.OPEN
        elif v <= 0 and state is State.OPEN:
            state = State.CLOSED
            count += 1
    print(state, f"{state}", state.name)
    return state, count, state.value


@program(inputs=VALUES)
def members_that_are_numbers(x):
    code = Code.OK
    while x.abs().max() > 0.5:
        x = x * 0.5
        if x.sum() > 2:
            code = Code.WARN
        elif x.sum() < -2:
            code = Code(2)
        elif code > Code.OK:
            code = Code.OK
    return code, code + 1, int(code), code == 1


class Phases(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.phase = "warmup"
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        y = self.linear(x)
        while y.abs().max() > 0.5:
            y = y * 0.5 if self.phase == "warmup" else y * 0.9 - 0.01
            self.steps += 1
            if self.steps > 2:
                self.phase = "main"
        return y, self.phase


@program(inputs=VALUES, grad=True)
class ModuleWithAPhase(Phases):
    pass


@program(inputs=VALUES)
def shown_in_and_behind_the_loop(x):
    status = "start"
    k = 0
    while x.abs().max() > 1:
        print(f"trip {k} {status}")
        x = x / 2
        k += 1
        status = "moved" if x.sum() > 0 else "negative"
    print(f"{status}: {k}", [status, k])
    if status == "negative":
        raise ValueError(f"status {status}")
    return {"status": status, "x": x}


@program(inputs=VALUES)
def asked_behind_the_loop(x):
    status = "start"
    while x.abs().max() > 1:
        x = x / 2
        status = "moved"
        if x.sum() < 0:
            status = "negative"
    if status == "negative":
        return -x
    if status in ("moved", "other"):
        x = x + 1
    if status != "start" and not status == "moved":
        x = x * 100
    label = f"{status}-{x.ndim}"
    return x, status.upper() + "!" + label, label.startswith("mo"), len(status), status[0], "t" in status


@program(inputs=VALUES)
def none_among_them(x):
    reason = None
    n = 0
    while n < 5:
        x = x * 0.7
        n += 1
        if x.abs().max() < 1:
            reason = "small"
            break
        if x.sum() < -3:
            reason = "negative"
            break
    if reason is None:
        return x, "none"
    return x, reason


@program(inputs=VALUES)
def truth_of_a_string(x):
    found = ""
    n = 0
    while n < 5 and not found:
        n += 1
        x = x * 0.5
        if x.abs().max() < 0.5:
            found = "done"
    return found or "none", bool(found), n


@program(inputs=VALUES)
def keys_of_dicts(x):
    rates = {"slow": 0.9, "fast": 0.25}
    shifts = {"slow": torch.zeros(2), "fast": torch.tensor([0.25, 0.5])}
    steps = {"slow": lambda t: t * 0.5, "fast": torch.sin}
    counts = {"slow": 0, "fast": 0}
    mode = "slow"
    n = 0
    while x.abs().max() > 0.3 and n < 8:
        x = steps[mode](x) * rates[mode] + shifts[mode] * 0.1
        counts[mode] += 1
        mode = "fast" if x.abs().sum() > 1.5 else "slow"
        n += 1
    return x, mode, counts, rates.get(mode, 1.0)


@program(inputs=VALUES)
def key_that_is_missing(x):
    rates = {"slow": 0.9, "fast": 0.25}
    mode = "slow"
    n = 0
    while x.abs().max() > 0.3 and n < 8:
        if x.abs().sum() > 1.5:
            mode = "fast"
        elif x.sum() < -0.5:
            mode = "other"
        x = x * rates[mode]
        n += 1
    return x, mode


@program(inputs=VALUES)
def loops_in_loops(x):
    outer = "a"
    total = x.sum()
    for _ in range(3):
        inner = "p"
        while total.abs() > 1:
            total = total / 2
            if total > 0.8:
                inner = "q"
        if inner == "q":
            outer = "b"
            total = total * 3
        else:
            total = total + 2
    return total, outer


def damped(x, mode):
    if mode == "hard":
        return x * 0.25
    return x * 0.5


@program(inputs=[lambda: (vec(1, 2), "soft"), lambda: (vec(3, 4), "hard"), lambda: (vec(-3, 4), "none")])
def given_and_handed_on(x, mode):
    while x.abs().max() > 0.5:
        x = damped(x, mode)
        if x.abs().sum() > 2:
            mode = "hard"
    return x, mode


@program(inputs=VALUES)
def the_state_before(x):
    now = "a"
    before = "none"
    changes = 0
    for _ in range(15):
        x = x * 0.8
        before = now
        if x.sum() > 1:
            now = "b"
        elif x.sum() < -1:
            now = "c"
        else:
            now = "a"
        if before != now:
            changes += 1
    return before, now, changes


@program(inputs=VALUES)
def kept_in_containers(x):
    info = {"status": "new", "n": 0}
    log = ["none", "none"]
    while x.abs().max() > 1:
        x = x / 2
        info["n"] += 1
        if x.sum() > 0:
            info["status"] = "pos"
            log[0] = "pos"
        else:
            info["status"] = "neg"
            log[1] = log[0]
    return info, log, x


@program(inputs=VALUES)
def eight_states_in_a_row(x):
    state = "a"
    n = 0
    while n < 12:
        n += 1
        x = x + 0.5
        if state == "a":
            state = "b"
        elif state == "b":
            state = "c"
        elif state == "c" and x.sum() > -3:
            state = "d"
        elif state == "d":
            state = "e"
        elif state == "e":
            state = "f"
        elif state == "f":
            state = "g"
        elif state == "g" and x.sum() > 0:
            state = "h"
    return state, x


@program(inputs=VALUES)
def return_out_of_a_state(x):
    state = "a"
    for i in range(30):
        if state == "a":
            x = x * 0.9
            if x.abs().sum() < 3:
                state = "b"
        elif state == "b":
            x = x * 0.7
            if x.abs().sum() < 0.5:
                state = "c"
        else:
            return state, x, i
    return "end", x, -1
