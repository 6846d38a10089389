"""Lists that grow in a loop whose number of trips depends on data, where more than a local name leads to them."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import nn

from tests.harness import integer, program, vec

TRIPS = [lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),), lambda: (vec(30, 4),), lambda: (vec(0, 1.5),)]
COUNTS = [lambda: (integer(5),), lambda: (integer(0),), lambda: (integer(8),)]
SEVERAL = [lambda: (vec(3, 4),), lambda: (vec(30, 4),), lambda: (vec(0, 1.5),)]


class Halving:
    def __init__(self, limit):
        self.limit = limit
        self.history = []
        self.trips = 0

    def run(self, x):
        while x.norm() > self.limit:
            x = x * 0.5
            self.history.append(x.norm())
            self.trips += 1
        return x

    def mean(self):
        if not self.history:
            return torch.zeros(())
        return torch.stack(self.history).mean()


@program(inputs=TRIPS, grad=True)
def a_solver_keeps_its_history(x):
    solver = Halving(1.0)
    x = solver.run(x)
    return x, solver.mean(), solver.trips


@program(inputs=TRIPS)
def a_history_is_left_on_the_object(x):
    solver = Halving(1.0)
    return solver.run(x), solver


@program(inputs=TRIPS, grad=True)
def lists_of_a_dict(x):
    log = {"x": [], "norm": [], "rate": 0.5}
    while x.norm() > 1:
        x = x * log["rate"]
        log["x"].append(x)
        log["norm"].append(x.norm())
    log["trips"] = len(log["x"])
    if len(log["x"]) == 0:
        return x.sum(), log
    return torch.stack(log["x"]).sum() + log["norm"][-1], log


@program(inputs=TRIPS)
def numbers_in_a_list_of_a_dict(x):
    log = {"loss": [], "steps": []}
    n = 0
    while x.norm() > 1:
        x = x / 2
        n += 1
        log["loss"].append(x.sum().item())
        log["steps"].append(n)
    return sum(log["steps"]), log


@program(
    inputs=[lambda: (vec(3, 4), []), lambda: (vec(0.1, 0.2), []), lambda: (vec(30, 4), [vec(1, 1)])],
    refused="what the list holds, the caller has in another place, too",
)
def a_list_of_the_caller(x, out):
    while x.norm() > 1:
        x = x / 2
        out.append(x)
    return x


@program(inputs=SEVERAL, grad=True)
def the_last_element_leads_on(x):
    box = {"xs": [x]}
    while box["xs"][-1].norm() > 1:
        box["xs"].append(box["xs"][-1] / 2)
    return box["xs"][-1], len(box["xs"]), box["xs"][0]


@program(inputs=TRIPS)
def two_names_of_a_list(x):
    xs = [x]
    ys = xs
    while x.norm() > 1:
        x = x / 2
        ys.append(x)
    return torch.stack(xs).sum(0), len(ys)


@program(inputs=TRIPS, refused="a dict that a loop writes to has one list twice")
def one_list_in_two_places(x):
    xs = []
    both = {"a": xs, "b": xs}
    while x.norm() > 1:
        x = x / 2
        both["a"].append(x)
    both["b"].append(x + 1)
    return both


@program(inputs=TRIPS)
def a_helper_appends(x):
    def record(xs, value):
        xs.append(value)

    xs = []
    while x.norm() > 1:
        x = x / 2
        record(xs, x.sum())
    return len(xs), xs


@program(inputs=TRIPS)
def a_closure_appends(x):
    seen = []

    def halved(value):
        seen.append(value.sum())
        return value / 2

    while x.norm() > 1:
        x = halved(x)
    total = torch.zeros(())
    for value in seen:
        total = total + value
    return x, total


@program(inputs=TRIPS)
def appended_on_some_trips(x):
    log = {"big": [], "small": []}
    while x.norm() > 1:
        x = x / 2
        if x.norm() > 3:
            log["big"].append(x)
        else:
            log["small"].append(x.norm())
    return log


@program(inputs=TRIPS, refused="what the list holds, the caller has in another place, too")
def a_loop_that_breaks(x):
    log = {"xs": []}
    for _ in range(20):
        if x.norm() < 1:
            break
        x = x / 2
        log["xs"].append(x)
    else:
        x = x * 0
    return x, log["xs"]


@program(inputs=TRIPS, refused="what the list holds, the caller has in another place, too")
def a_while_that_breaks(x):
    log = {"xs": []}
    while x.norm() > 1:
        x = x / 2
        log["xs"].append(x)
        if x.sum() < 2:
            break
    return x, log["xs"]


@program(inputs=TRIPS)
def two_loops_fill_one_list(x):
    log = {"xs": [x]}
    while x.norm() > 4:
        x = x / 2
        log["xs"].append(x)
    log["xs"].append(x * 0)
    while x.norm() > 1:
        x = x / 3
        log["xs"].append(x)
    return torch.stack(log["xs"])


@program(inputs=TRIPS, refused="a loop in a loop fills a list")
def a_loop_in_a_loop(x):
    log = {"xs": []}
    while x.norm() > 1:
        y = x
        while y.norm() > 2:
            y = y / 2
            log["xs"].append(y)
        x = x / 3
    return log["xs"]


@program(inputs=TRIPS, grad=True)
def differences_of_neighbours(x):
    xs = [x]
    while x.norm() > 1:
        x = x / 2
        xs.append(x)
    steps = [b - a for a, b in zip(xs, xs[1:])]
    return xs[1:], len(xs[:-1]), len(steps)


@program(inputs=TRIPS, grad=True)
def slices_and_comprehensions(x):
    run = {"xs": [x]}
    while x.norm() > 1:
        x = x / 2
        run["xs"].append(x)
    norms = [y.norm() for y in run["xs"]]
    later = run["xs"][1:]
    copies = list(run["xs"])
    copies.append(x + 1)
    return torch.stack(norms), later, run["xs"][:-1], copies, run


@program(inputs=TRIPS)
def a_list_that_is_asked_for_its_truth(x):
    run = {"xs": []}
    while x.norm() > 1:
        x = x / 2
        run["xs"].append(x)
    if run["xs"]:
        return run["xs"][-1] + 1
    return x


@dataclass
class Record:
    losses: list = field(default_factory=list)
    best: float = 1e9


@program(inputs=TRIPS)
def a_record_of_losses(x):
    record = Record()
    while x.norm() > 1:
        x = x / 2
        loss = (x * x).sum().item()
        record.losses.append(loss)
        if loss < record.best:
            record.best = loss
    return record, len(record.losses)


@program(inputs=TRIPS)
class KeepsLosses(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.5))
        self.losses = []

    def forward(self, x):
        while x.norm() > 1:
            x = x * self.scale.detach()
            self.losses.append(x.sum())
        return x


@program(inputs=TRIPS, refused="a branch fills a list from around it in a loop")
def a_loop_in_a_branch(x):
    log = {"xs": []}
    if x.sum() > 1:
        while x.norm() > 1:
            x = x / 2
            log["xs"].append(x)
    return x, log


@program(inputs=TRIPS, refused="the elements are copies of what the loop has made")
def an_element_is_written_behind_the_loop(x):
    log = {"xs": [x.clone()]}
    while x.norm() > 1:
        x = x / 2
        log["xs"].append(x)
    log["xs"][-1].add_(1)
    return x, log


@program(inputs=TRIPS, refused="an element of a list that grows is replaced")
def an_element_is_replaced_in_the_loop(x):
    log = {"xs": [x]}
    while x.norm() > 1:
        x = x / 2
        log["xs"].append(x)
        log["xs"][0] = x
    return log


@program(inputs=TRIPS, refused="a list that gets shorter and longer")
def a_window_of_the_last_elements(x):
    log = {"xs": []}
    while x.norm() > 1:
        x = x / 2
        log["xs"].append(x)
        if len(log["xs"]) > 2:
            log["xs"].pop(0)
    return log


@program(inputs=TRIPS, refused="one tensor twice in a list")
def one_tensor_in_two_lists(x):
    log = {"a": [], "b": []}
    while x.norm() > 1:
        x = x / 2
        log["a"].append(x)
        log["b"].append(x)
    for y in log["a"]:
        y += 1
    return log


@program(inputs=TRIPS, refused="what the list holds, the caller has in another place, too")
def a_loop_that_breaks_before_it_appends(x):
    xs = []
    for _ in range(20):
        if x.norm() < 1:
            break
        x = x / 2
        xs.append(x)
    return x, xs


@program(inputs=TRIPS)
def a_dict_is_written_in_a_while_that_breaks(x):
    state = {"x": x, "norms": [x.norm()]}
    while x.norm() > 1:
        x = x / 2
        state["x"] = x
        state["norms"][0] = x.norm()
        if x.sum() < 2:
            break
    return x, state


class Recorder:
    def __init__(self):
        self.rows = []

    def add(self, row):
        self.rows.append(row)

    def table(self):
        return torch.stack(self.rows)

    def later(self):
        return self.rows[1:]


@program(inputs=SEVERAL, grad=True)
def methods_ask_for_all_rows(x):
    recorder = Recorder()
    while x.norm() > 1:
        x = x / 2
        recorder.add(x)
    return recorder.table().sum(0), len(recorder.later())


@program(inputs=TRIPS, refused="the elements are copies of what the loop has made")
def an_element_is_written_in_the_loop(x):
    box = Recorder()
    while x.norm() > 1:
        x = x / 2
        box.rows.append(x)
        x.mul_(0.9)
    return box.rows


@program(inputs=TRIPS, refused="one tensor is in the list several times")
def one_buffer_is_appended_on_every_trip(x):
    box = Recorder()
    buf = torch.zeros(2)
    while x.norm() > 1:
        x = x / 2
        buf += x
        box.rows.append(buf)
    return box.rows


@program(inputs=TRIPS, refused="a new list on every trip")
def a_longer_list_takes_the_place_of_the_old_one(x):
    box = Recorder()
    old = box.rows
    while x.norm() > 1:
        x = x / 2
        box.rows = box.rows + [x]
    return old, box.rows


@program(inputs=TRIPS, refused="a list that grows is replaced by another")
def a_list_is_emptied_in_the_loop_that_fills_it(x):
    box = Recorder()
    while x.norm() > 1:
        x = x / 2
        box.rows.append(x)
        if x.sum() < 2:
            box.rows = []
    return box.rows


@program(inputs=TRIPS)
def a_loop_that_prints_fills_a_list(x):
    box = Recorder()
    while x.norm() > 1:
        x = x / 2
        box.rows.append(x)
        print("trip")
    return box.rows


@program(
    inputs=[lambda: (vec(3, 4), []), lambda: (vec(3, 4), [vec(1, 1)]), lambda: (vec(0.1, 0.1), [vec(1, 1)])],
    refused="what the list holds, the caller has in another place, too",
)
def an_object_holds_the_list_of_the_caller(x, out):
    box = Recorder()
    box.rows = out
    while x.norm() > 1:
        x = x / 2
        box.rows.append(x)
    out.append(x)
    return len(box.rows), box


@program(inputs=TRIPS, refused="elements of two types")
def elements_of_two_types(x):
    box = Recorder()
    box.rows.append(1)
    while x.norm() > 1:
        x = x / 2
        box.rows.append(x)
    return box.rows


@program(inputs=TRIPS)
def a_branch_appends_behind_the_loop(x):
    box = Recorder()
    while x.norm() > 1:
        x = x / 2
        box.rows.append(x)
    if x.sum() > 0.5:
        box.rows.append(x * 2)
    return box.rows


@program(inputs=TRIPS)
def a_branch_appends_behind_the_loop_and_the_length_is_asked_for(x):
    box = Recorder()
    while x.norm() > 1:
        x = x / 2
        box.rows.append(x)
    if x.sum() > 0.5:
        box.rows.append(x * 2)
    return len(box.rows), box.rows[0] if box.rows else x


@program(
    grad=True, inputs=[lambda: (vec(1, 3),), lambda: (vec(0.2, 0.3),), lambda: (vec(-1, 4),), lambda: (vec(-9, 2),)]
)
def list_that_grows_under_a_test_in_a_loop_of_a_branch(x):
    rows = []
    if x.sum() > 0:
        y = x
        while y.sum() > 1:
            y = y / 2
            if y[0] > 0:
                rows.append(y)
        z = torch.cat(rows) if rows else x
    else:
        z = x
    return z.sum()


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(1, 1, -1),)])
def places_of_negative_numbers_in_a_list(x):
    found, level = [], 1.0
    for i, v in enumerate(x.tolist()):
        if v < 0:
            found.append(i)
        else:
            level = 0.9 * level + v
    return len(found), found, level


def note(log, value):
    log.append(value)


@program(inputs=SEVERAL)
def list_that_a_helper_fills_beside_a_local_one(x):
    hist, log = [], []
    while x.norm() > 1:
        x = x / 2
        hist.append(x.norm())
        note(log, x.sum())
    return hist, log, x


@program(inputs=SEVERAL)
def lists_of_an_object_and_of_the_function_in_two_loops(x):
    halving, hist = Halving(1.0), []
    for k in range(2):
        y = x * (k + 1)
        while y.norm() > 1:
            y = y / 2
            hist.append(y.norm())
            print("trip", k)
            note(halving.history, y.sum())
            halving.trips += 1
    return len(hist), hist, halving.history, halving.trips


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(5, -9, 0.5),)])
def list_that_a_helper_fills_in_unrolled_trips(x):
    log, out = [], []
    for v in x:
        if v > 2:
            note(log, v)
            r = None
        else:
            note(log, -v)
            r = v
        if r is None:
            continue
        out.append(r)
    return out, log


@program(inputs=COUNTS)
def digits_backwards(n):
    digits = []
    while n > 0:
        digits.append(int(n % 2))
        n = n // 2
    return digits[::-1]


@program(inputs=COUNTS)
def digits_turned_around_in_place(n):
    digits = [n * 0 + 7]
    while n > 0:
        digits.append(n % 3)
        n = n // 3
    digits.append(n - 1)
    other = digits
    digits.reverse()
    digits.append(n + 4)
    again = list(reversed(digits))
    return digits, len(other), torch.stack(again), again[0], other is digits


@program(inputs=COUNTS)
def steps_from_the_last_to_the_first(n):
    path = []
    while n > 0:
        path.append((n, int(n) * 2))
        n = n - 3
    path = path[::-1]
    total = 0
    for _, k in path:
        total = total * 2 + k
    return total, path


@program(inputs=[lambda: (vec(3, 4),), lambda: (vec(0.1, 0.1),)], grad=True)
def gradient_through_a_list_that_is_turned_around(x):
    states = []
    while x.sum() > 1:
        states.append(x)
        x = x * 0.5
    out = x
    for state in states[::-1]:
        out = out * 0.5 + state**2
    return out


@program(inputs=COUNTS)
def path_of_an_object_turned_around(n):
    halving = Halving(1.0)
    while n > 0:
        halving.history.append(n * 1)
        n = n - 2
    halving.history.reverse()
    return halving.history


@program(inputs=COUNTS, refused="turns a list around in a branch")
def digits_turned_around_in_a_branch(n):
    digits, first = [], n
    while n > 0:
        digits.append(n % 2)
        n = n // 2
    if first > 5:
        digits.reverse()
    return digits
