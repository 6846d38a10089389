"""Effects, exceptions and numbers as they come together in use: training loops, metrics, solvers, checks."""

# ruff: noqa: UP031, UP032, F841, C416 (the ways in which users write it)

import logging
import math
import sys
import warnings
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum

import torch

from tests.harness import by_torch, integer, ints, program, scalar, vec

log = logging.getLogger("programs.use")
log.setLevel(logging.DEBUG)
BOTH = [lambda: (vec(3, 4),), lambda: (vec(-1, -2),)]
CHECKED = [lambda: (vec(1, 2),), lambda: (vec(-1, 2),), lambda: (vec(1, 200),)]


class EarlyStopping:
    def __init__(self, patience=2, delta=0.1):
        self.patience, self.delta, self.best, self.counter = patience, delta, None, 0

    def __call__(self, loss):
        if self.best is None or loss < self.best - self.delta:
            self.best = loss
            self.counter = 0
        else:
            self.counter += 1
            print(f"EarlyStopping counter: {self.counter} out of {self.patience}")
        return self.counter >= self.patience


@program(inputs=[lambda: (vec(4, 3.95, 3.96),), lambda: (vec(5, 4, 3),)])
def early_stopping_class(losses):
    stopper = EarlyStopping()
    for k in range(3):
        if stopper(losses[k].item()):
            print("stop at", k)
            break
    return stopper.best


@program(inputs=[lambda: (vec(4, 3.95, 3.96),), lambda: (vec(5, 4, 3),)])
def early_stopping_tensors(losses):
    best = torch.tensor(float("inf"))
    counter = 0
    last = -1
    for k in range(losses.shape[0]):
        loss = losses[k]
        if loss < best - 0.1:
            best = loss
            counter = 0
            log.debug("new best %.3f at %d", best, k)
        else:
            counter += 1
            if counter >= 2:
                print(f"stopping at epoch {k + 1}/{losses.shape[0]} with best={best:.2f}", file=sys.stderr)
                last = k
                break
    return best, last


Result = namedtuple("Result", "value iterations converged")


@program(inputs=[lambda: (scalar(2.0),), lambda: (scalar(1e6),)])
def bisect(target):
    lo, hi = 0.0, 10.0
    f = lambda m: m * m - target
    if f(torch.tensor(hi)) < 0:
        raise ValueError(f"f({lo}) and f({hi}) must have different signs; target={target.item():g}")
    lo_t, hi_t = torch.tensor(lo), torch.tensor(hi)
    it = 0
    while (hi_t - lo_t) > 1e-3 and it < 50:
        mid = (lo_t + hi_t) / 2
        if f(mid) > 0:
            hi_t = mid
        else:
            lo_t = mid
        it += 1
    print("bisect: %d iterations, [%.3f, %.3f]" % (it, lo_t, hi_t))
    return Result(lo_t, it, (hi_t - lo_t) <= 1e-3)


@program(
    inputs=[
        lambda: (ints(0, 1, 1), ints(0, 1, 0)),
        lambda: (ints(0, 1, 1), ints(2, 1, 0)),
        lambda: (ints(0, 0, 0), ints(0, 0, 0)),
    ]
)
def binary_stats(pred, target):
    if pred.shape != target.shape:
        raise RuntimeError("shapes")
    unique = torch.unique(target)
    if torch.any((unique != 0) & (unique != 1)):
        raise RuntimeError(
            f"Detected the following values in `target`: {unique} but expected only the following values [0, 1]."
        )
    tp = ((pred == 1) & (target == 1)).sum()
    fp = ((pred == 1) & (target == 0)).sum()
    precision = (tp / (tp + fp)).item() if tp + fp > 0 else 0.0
    return tp, fp, precision


@program(inputs=BOTH)
def debug_hook_printing(x):
    def hook(name, t):
        if t.isnan().any():
            print(name, "has nan")
        else:
            print(f"{name}: {t.mean():+.3f} ± {t.std():.3f}")
        return t

    a = hook("input", x)
    b = hook("sqrt", a.sqrt())
    return hook("out", b * 2)


@program(inputs=[lambda: (vec(1, 2), 3), lambda: (vec(1, 2), 0), lambda: (vec(-1, -2), 3)])
def python_and_tensor_checks(x, k):
    if k == 0:
        raise ZeroDivisionError("k must not be 0")
    if x.sum() < 0 and k > 2:
        raise ValueError(f"{k=} with negative {x=}")
    assert k, "k"
    return x / k


class Mode(Enum):
    TRAIN = "train"
    EVAL = "eval"


@program(inputs=[lambda: (vec(3, 4), Mode.TRAIN), lambda: (vec(-3, 4), Mode.EVAL)])
def enum_in_message(x, mode):
    print(f"{mode.value}: {x.sum().item():.0f}")
    if x.min() < 0:
        print("negative in", mode.name)
    return x * (2 if mode is Mode.TRAIN else 1)


@program(inputs=[lambda: (integer(5),), lambda: (integer(1),), lambda: (integer(-1),)])
def collatz(n):
    if n < 1:
        raise ValueError(f"n must be positive, got {n}")
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        print(steps, int(n), sep=": ", end="; " if n != 1 else "\n")
    return steps


@program(inputs=[lambda: (vec(1, 5, 2),), lambda: (vec(9, 5, 2),)])
def running_max_table(x):
    best = -math.inf
    rows = []
    for i, v in enumerate(x):
        v = v.item()
        best = max(best, v)
        rows.append({"i": i, "v": v, "best": best})
        print("{i:>2d} | {v:6.2f} | {best:6.2f}".format(**rows[-1]))
    return rows


@program(inputs=[lambda: (torch.eye(2), vec(1, 2)), lambda: (torch.zeros(2, 2), vec(1, 2))])
def solve_or_lstsq(a, b):
    try:
        return torch.linalg.solve(a, b)
    except RuntimeError as error:
        warnings.warn(f"singular ({type(error).__name__}), falling back", RuntimeWarning)
        return torch.linalg.lstsq(a + 1e-3 * torch.eye(2), b.unsqueeze(1)).solution.squeeze(1)


@program(inputs=BOTH)
def retry_loop(x):
    for attempt in range(3):
        try:
            if x.sum() > attempt * 4:
                raise ArithmeticError(f"attempt {attempt} failed with {x.sum().item():.1f}")
        except ArithmeticError as e:
            print(e)
            x = x - 1
            continue
        break
    else:
        print("gave up")
    return x, attempt


@program(inputs=BOTH)
def finally_with_state(x):
    log_ = []
    try:
        log_.append("enter")
        if x.sum() > 0:
            raise KeyError("positive")
        log_.append("body")
    except KeyError as e:
        log_.append(str(e))
    finally:
        log_.append("exit")
        print(log_)
    return x, log_


class timer:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        print("start", self.name)
        return self

    def __exit__(self, *a):
        print("stop", self.name)
        return False


@program(inputs=BOTH)
def own_context_manager(x):
    with timer("block") as t:
        if x.sum() > 0:
            raise ValueError(t.name)
        x = x * 2
    return x


@program(inputs=BOTH)
def reraise_with_context(x):
    try:
        if x.sum() > 0:
            raise ValueError("inner")
    except ValueError:
        log.exception("caught")
        raise
    return x


@program(inputs=BOTH)
def error_collected_and_returned(x):
    error = None
    try:
        if x.sum() > 0:
            raise ValueError("bad sum")
    except ValueError as e:
        error = str(e)
    return x if error is None else (x * 0)


@program(inputs=BOTH)
def percent_s_with_tensor_and_tuple(x):
    print("shape %s sum %5.2f items %r" % (tuple(x.shape), x.sum(), x.tolist()))
    print("x = " + str(x) + ", max = " + repr(x.max().item()))
    print("%d%%" % (100 * x.argmax().item()))
    return x


MESSAGE = "lowest is {:.1f}, highest is {high}"


def _requires(pred, msg, *args):
    if not pred:
        raise ValueError(msg % args)


@program(inputs=CHECKED)
def requires_helper(x):
    _requires((x > 0).all(), "all entries must be positive, lowest %.1f", x.min().item())
    _requires(x.max() < 100, "too large: %s", x.max().item())
    return x.log()


def check(ok, template, *values, **named):
    if not ok:
        raise ValueError(template.format(*values, **named))


@program(inputs=CHECKED)
def format_helper(x):
    check((x > 0).all(), MESSAGE, x.min().item(), high=x.max().item())
    return x


@program(inputs=CHECKED)
def module_template(x):
    if x.min() < 0:
        print(MESSAGE.format(x.min(), high=x.max().item()))
    return x


@program(inputs=[lambda: (ints(1, 7),), lambda: (ints(-9, 2),)])
def modulo_not_text(x):
    n = x.sum()
    if n > 0:
        print(n % 3, x % 4)
        raise ValueError(n.item() % 5, (n % 2).item())
    return x


NUM = [lambda: (integer(3),), lambda: (integer(1),), lambda: (integer(0),)]


@program(inputs=BOTH, refused=by_torch("2.11", "Tensor.new_tensor asks what a number from data is"))
def clamp_full_new(x):
    lo, hi = x.min().item(), x.max().item()
    y = x.clamp(min=lo + 0.5, max=hi - 0.25)
    z = torch.full((2,), hi) + x.new_tensor([lo, hi]) + torch.tensor([lo, 1.0])
    return y, z, torch.linspace(lo, hi, 3)


@program(inputs=NUM)
def arange_topk_slices(n):
    k = n.item()
    a = torch.arange(k)
    b = torch.arange(10)[:k]
    c = torch.zeros(k, 2).sum(0)
    d = torch.ones(4).narrow(0, 0, k)
    return a, b, c, d, a.shape[0] == k


@program(inputs=NUM)
def chained_and_membership(n):
    k = n.item()
    return (0 < k < 3, k in (1, 2), k not in [3], k == 0 or k > 2, not k)


@program(inputs=NUM)
def truthiness(n):
    k = int(n)
    if k:
        print("nonzero", k)
    if not k:
        print("zero")
    while k:
        k -= 1
        print("k", k)
    return k


@program(inputs=BOTH)
def progress_bar(x):
    ratio = ((x > 0).float().mean()).item()
    done = int(10 * ratio)
    print("[" + "#" * done + "." * (10 - done) + f"] {ratio:.0%}")
    return ratio


@program(inputs=BOTH)
def power_abs_pow(x):
    v = x.sum().item()
    return (
        abs(v) ** 0.5,
        pow(v, 2),
        v**2,
        -v,
        +v,
        v // 2,
        v % 3,
        round(v),
        int(v),
        math.floor(v),
        math.ceil(v),
        math.trunc(v),
    )


@program(inputs=BOTH)
def sums_over_lists(x):
    values = [t.item() for t in x]
    return sum(values), max(values), min(values), len(values), [round(v, 1) for v in values], sum(values) / len(values)


@program(inputs=BOTH)
def max_of_items(x):
    a, b = x[0].item(), x[1].item()
    best = max(a, b)
    print(f"{a:>8.3f}|{b:<8.3f}|{best:^8.1f}|{a:+.2e}|{b!r}|{best:g}")
    return best


@program(inputs=NUM)
def formatted_ints(n):
    k = n.item()
    print(f"{k:03d} {k:>5} {k:x} {k:,} {k!s}", "%5d|%-5d|%05d" % (k, k, k), "{:b} {:o}".format(k, k))
    return k


@program(inputs=NUM)
def stepped_range(n):
    out = []
    total = 0
    for i in range(0, int(n) * 2, 2):
        total += i
        if total > 3:
            print("enough", total)
            break
    else:
        print("all", total)
    return total


@program(inputs=BOTH)
def isnan_isinf(x):
    v = x.mean().item()
    if math.isnan(v) or math.isinf(v):
        raise FloatingPointError(f"bad mean {v}")
    print("log", math.log(abs(v)), "ok" if math.isfinite(v) else "bad")
    return math.exp(min(v, 5.0))


@program(inputs=[lambda: (vec(3, 4),), lambda: (vec(float("nan"), -2),), lambda: (vec(float("inf"), -2),)])
def isnan_isinf_2(x):
    v = x.mean().item()
    if math.isnan(v) or v == float("inf"):
        raise FloatingPointError(f"bad mean {v}")
    return v


@dataclass
class Stats:
    mean: float
    std: float
    n: int = 0
    tags: list = field(default_factory=list)


@program(inputs=BOTH)
def dataclass_of_numbers(x):
    s = Stats(x.mean().item(), float(x.std()), x.numel())
    if s.mean > 0:
        print("positive", s.mean)
    return s.mean + s.std, s.n


class Fitting:
    def __init__(self, model):
        self.model = model
        self.step_count = 0
        self.losses = []

    def log(self, msg, *args):
        log.info(msg, *args)

    def step(self, x):
        out = self.model(x)
        loss = out.pow(2).mean()
        self.losses.append(loss.item())
        self.step_count += 1
        self.log("step %d loss %.4f", self.step_count, loss.item())
        if not math.isfinite(self.losses[-1]):
            raise RuntimeError(f"loss is {self.losses[-1]} at step {self.step_count}")
        return loss


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(float("nan"), 2),)])
def trainer_object(x):
    t = Fitting(lambda v: v * 2)
    a = t.step(x)
    b = t.step(x + 1)
    print("history", [f"{loss:.2f}" for loss in t.losses])
    return a + b, t.step_count


@program(inputs=BOTH)
def nested_functions_and_closure_counter(x):
    calls = 0

    def check(t, name):
        nonlocal calls
        calls += 1
        if (t > 3.5).any():
            warnings.warn(f"{name} has large values: {t.max().item():.1f}", stacklevel=2)
            return t.clamp(max=3.5)
        return t

    x = check(x, "x")
    y = check(x * 2, "y")
    print("calls", calls)
    return y


@program(inputs=BOTH)
def log_levels_by_value(x):
    level = logging.WARNING if x.sum() > 0 else logging.INFO
    log.log(level, "sum %s", x.sum().item())
    return x


@program(inputs=BOTH)
def print_sep_end_from_data(x):
    print(*x.tolist(), sep=" ; ", end=" <\n")
    print("a", "b", sep="-" if x.sum() > 0 else "+")
    return x


@program(inputs=[lambda: (torch.ones(2, 2),), lambda: (torch.tensor([[1.0, 2.0], [0.0, 1.0]]),)])
def symmetric_check(a):
    if not torch.allclose(a, a.T):
        diff = (a - a.T).abs().max()
        raise ValueError(f"matrix is not symmetric (max difference {diff:.2e} at {(a - a.T).abs().argmax().item()})")
    return torch.linalg.eigvalsh(a)


@program(inputs=[lambda: (ints(1, 2, 3), 0), lambda: (ints(1, 0, 3), 0)])
def index_of_padding(ids, pad):
    mask = ids == pad
    if mask.any():
        first = mask.int().argmax().item()
        print(f"padding starts at {first}")
        return ids.sum(), first
    return ids.sum(), -1


@program(inputs=BOTH)
def accumulate_then_log_every(x):
    running = 0.0
    for i in range(4):
        running += x.sum().item() * (i + 1)
        if i % 2 == 1:
            print("[%d] loss: %.3f" % (i + 1, running / 2))
            running = 0.0
    return running


@program(inputs=BOTH)
def message_or_none(x):
    msg = None
    if x.sum() < -5:
        msg = "too low"
    elif x.max() > 1:
        msg = f"too high: {x.max().item():.2f}"
    if msg is not None:
        print("warning:", msg)
        x = x.clamp(-1, 1)
    return x


@program(inputs=BOTH)
def reason_that_may_stay_empty(x):
    reason = ""
    if x.min() < 0:
        reason = f"lowest is {x.min().item():.1f}"
    if reason and x.numel() > 1:
        raise ValueError(reason)
    return x + 1


@program(inputs=BOTH, refused="whether a text is empty is known when the graph has run")
def empty_text_of_data(x):
    tag = f"{'negative' if x.min() < 0 else ''}"
    if tag:
        print("has", tag)
    return x


@program(inputs=BOTH)
def report_line_by_line(x):
    lines = []
    for i, v in enumerate(x):
        if v > 0:
            lines.append(f"{i}: positive")
        else:
            lines.append(f"{i}: {v.item():.1f}")
    for line in lines:
        print(line)
    print(*lines, sep="; ")
    print(len(lines), lines)
    return x


@program(inputs=[lambda: (vec(2, 0, 1),), lambda: (vec(0, 0, 3),)], refused="data decide whether a text is empty")
def bars_that_may_be_empty(x):
    bars = []
    for v in x:
        bars.append("#" * int(v))
    for bar in bars:
        if bar:
            print("bar", bar)
    return x.sum()


@program(inputs=BOTH)
def lines_that_are_never_empty(x):
    lines = []
    for v in x:
        if v > 0:
            lines.append(f"value {v.item():.0f}")
    for line in lines:
        if line:
            print(line)
    return x.sum()
