"""Validation, logging and early stopping as libraries write them: effects, exceptions and numbers in one program."""

# ruff: noqa: UP031, UP032, F841, C416 (the ways in which users write it)

import logging
import math
import sys
import warnings
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from rich import print as rprint
from torch import nn

from tests.harness import from_text, integer, ints, program, randn, scalar, vec

logger = logging.getLogger("programs.more")
logger.setLevel(logging.DEBUG)

BOTH = [lambda: (vec(3, 4),), lambda: (vec(-1, -2),)]
NAN = float("nan")
FINITE = [lambda: (vec(3, 4),), lambda: (vec(NAN, 1),), lambda: (vec(float("inf"), 1),)]


class ConvergenceWarning(UserWarning):
    pass


class NotConverged(RuntimeError):
    def __init__(self, iterations, residual):
        super().__init__(f"no convergence after {iterations} iterations (residual {residual:.3e})")
        self.iterations = iterations
        self.residual = residual


def check_probabilities(p, name="p", *, atol=1e-4):
    if not torch.is_floating_point(p):
        raise TypeError(f"{name} must be floating point, got {p.dtype}")
    if (p < 0).any() or (p > 1).any():
        raise ValueError(f"{name} must lie in [0, 1], got values between {p.min().item():.3f} and {p.max().item():.3f}")
    total = p.sum()
    if torch.abs(total - 1) > atol:
        warnings.warn(f"{name} sums to {total.item():.4f}; it will be normalised", stacklevel=2)
        p = p / total
    return p


@program(
    inputs=[lambda: (vec(0.25, 0.75),), lambda: (vec(0.5, 0.75),), lambda: (vec(-0.5, 0.7),), lambda: (ints(1, 0),)]
)
def entropy_of_checked_probabilities(p):
    p = check_probabilities(p, "weights")
    return -(p * torch.log(p.clamp_min(1e-12))).sum()


@program(inputs=[lambda: (ints(0, 2, 1), 3), lambda: (ints(0, 3, 1), 3), lambda: (ints(-1, 0, 1), 3)])
def label_validation(target, num_classes):
    lowest, highest = int(target.min()), int(target.max())
    if lowest < 0 or highest >= num_classes:
        raise ValueError(
            "Detected the following values in `target`: {} .. {}, expected only values in [0, {}].".format(
                lowest, highest, num_classes - 1
            )
        )
    return F.one_hot(target, num_classes)


@program(inputs=FINITE)
def nan_guard_that_logs(loss):
    if not torch.isfinite(loss).all():
        bad = (~torch.isfinite(loss)).sum().item()
        logger.error("%d of %d losses are not finite", bad, loss.numel())
        raise FloatingPointError("Loss is %s" % loss.tolist())
    return loss.mean()


@program(inputs=[lambda: (scalar(2.0), 1e-3), lambda: (scalar(9.0), 1e-12), lambda: (scalar(-1.0), 1e-3)])
def newton_that_may_not_converge(a, tol):
    if a < 0:
        raise ValueError(f"need a >= 0, got {a.item()}")
    x = a
    residual = (x * x - a).abs()
    iterations = 0
    while residual > tol and iterations < 4:
        x = 0.5 * (x + a / x)
        residual = (x * x - a).abs()
        iterations += 1
        logger.debug("iteration %d: residual %.3e", iterations, residual)
    if residual > tol:
        raise NotConverged(iterations, residual.item())
    return x, iterations


@program(inputs=[lambda: (vec(5, 3, 2, 2.5, 2.6, 2.7, 1),), lambda: (vec(7, 6, 5, 4, 3, 2, 1),)])
def early_stopping_with_log(losses):
    best, wait, stopped = math.inf, 0, -1
    for epoch in range(losses.shape[0]):
        loss = losses[epoch].item()
        if loss < best:
            best = loss
            wait = 0
        else:
            wait += 1
            print(f"epoch {epoch}: no improvement ({wait}/2)", file=sys.stderr)
        if wait >= 2:
            stopped = epoch
            print("stopping early at", epoch, "best", round(best, 2))
            break
    return best, stopped


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 0, 1),), lambda: (vec(100, 0, 1),)])
def stdout_write_with_carriage_return(x):
    for k in range(3):
        if x[k] > 0:
            sys.stdout.write("\r%3d%% %.1f" % (100 * (k + 1) // 3, x[k].item()))
            sys.stdout.flush()
    sys.stdout.write("\n")
    return x


@program(inputs=BOTH)
def print_options_by_branch(x):
    print("sum:", end=" ")
    if x.sum() > 0:
        print(x.sum().item(), x.max().item(), sep=" | ", flush=True)
    else:
        print("negative", file=sys.stderr, end="!\n")
    print(*[f"{v:.1f}" for v in x.tolist()], sep=",")
    return x


@program(inputs=BOTH)
def rich_print_in_a_branch(x):
    if x.sum() > 0:
        rprint(f"[bold red]sum[/bold red] {x.sum().item():.2f}")
    rprint("done", x.shape[0])
    return x


@program(inputs=BOTH)
def deprecation_with_stacklevel(x):
    def old_api(v):
        warnings.warn("old_api is deprecated", DeprecationWarning, stacklevel=2)
        if v.sum() > 0:
            warnings.warn(ConvergenceWarning("not converged"), stacklevel=2)
        return v * 2

    y = old_api(x)
    return old_api(y)


@program(inputs=BOTH)
def warning_instance_and_category_by_keyword(x):
    if x.sum() > 0:
        warnings.warn(message=f"sum is {x.sum().item()}", category=RuntimeWarning)
    else:
        warnings.warn(ConvergenceWarning(f"negative: {x.sum().item()}"))
    return x


# As text: pytest gives the `assert` statements of this file messages of its own.
ASSERTING = """\
import torch

def validate(x):
    assert x.ndim == 1, f"expected a vector, got {x.ndim} dimensions"
    assert torch.isfinite(x).all(), f"not finite: {x.tolist()}"

def between(x, low, high):
    assert ((x >= low) & (x <= high)).all(), (
        f"values must lie in [{low}, {high}], got [{x.min().item():.2f}, {x.max().item():.2f}]"
    )
    assert x.numel() > 0, "empty"
    return (x - low) / (high - low)
"""


VALIDATE = from_text(ASSERTING, "validate", "<asserting>", {"__name__": __name__})


@program(inputs=FINITE)
class RunningNorm(nn.Module):
    """Keeps statistics, and refuses what is not finite."""

    def __init__(self, momentum=0.5):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("count", torch.tensor(0))
        self.verbose = True

    def forward(self, x):
        VALIDATE(x)
        self.count += 1
        if self.training:
            self.mean.mul_(1 - self.momentum).add_(self.momentum * x)
        if self.verbose:
            logger.info("call %d, mean %s", self.count.item(), [round(v, 3) for v in self.mean.tolist()])
        return x - self.mean


@program(
    inputs=[lambda: (vec(1, 2), 0.0, 4.0), lambda: (vec(1, 9), 0.0, 4.0), lambda: (vec(-1, 2), 0.0, 4.0)], factory=True
)
def assert_over_lines():
    return from_text(ASSERTING, "between", "<asserting>")


@program(inputs=[lambda: (randn(2, 2),), lambda: (randn(2, 2, seed=3) * 100,)], grad=True)
class TrainingStepThatLogs(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.history = []

    def forward(self, x):
        y = self.layer(x)
        loss = (y * y).mean()
        self.history.append(loss.item())
        print(f"loss {loss.item():.4f} (lr {1e-3:.0e})")
        if loss > 10:
            logger.warning("large loss: %.3f", loss.item())
            loss = loss.clamp(max=10)
        return loss


@program(inputs=[lambda: (randn(3),), lambda: (randn(3) * 50,)], grad=True)
def clipping_by_norm_with_warning(g):
    norm = g.norm()
    if norm > 5.0:
        warnings.warn("gradient norm %.2f exceeds %.1f" % (norm.item(), 5.0), RuntimeWarning, stacklevel=1)
        g = g * (5.0 / norm)
    return g.sum(), norm.item()


@program(inputs=[lambda: (integer(3), 2), lambda: (integer(0), 2), lambda: (integer(-2), 2)])
def raise_in_a_loop_of_a_callee(n, limit):
    def pop(count):
        if count <= 0:
            raise IndexError(f"pop from empty stack ({count})")
        return count - 1

    for k in range(limit):
        n = pop(n)
        print("popped", k, n.item())
    return n


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(1, -2),), lambda: (vec(-1, -2),)])
def errors_gathered_in_a_list(x):
    problems = []
    if x[0] < 0:
        print("first is negative")
    if x[1] < 0:
        print("second is negative")
    if (x < 0).all():
        raise ValueError("; ".join(["first", "second"]) + f": {x.tolist()}")
    return x


@program(inputs=[lambda: (vec(4, 9),), lambda: (vec(-4, 9),)])
def math_on_items(x):
    a, b = x[0].item(), x[1].item()
    if a < 0:
        raise ArithmeticError(f"math domain error: {a}")
    return math.sqrt(a) + max(b, 1), round(a / b, 3), min(a, b, 2.0), abs(a - b), math.floor(b)


@program(inputs=[lambda: (integer(2),), lambda: (integer(5),)])
def sizes_and_ranges_from_items(n):
    k = n.item()
    grid = torch.zeros(k, 2)
    for i in range(k):
        grid[i, 0] = i
    print("rows", k, grid.shape)
    return grid, list(range(3))[: min(k, 3)], {"k": k, "half": k / 2, "odd": k % 2 == 1}


@program(inputs=BOTH)
def numbers_in_dictionary_and_format(x):
    stats = {"min": x.min().item(), "max": float(x.max()), "argmax": int(x.argmax()), "any": bool((x > 0).any())}
    print("{min:.1f} .. {max:.1f} at {argmax} ({any})".format(**stats))
    logger.info("stats %s", stats)
    return stats


@program(inputs=BOTH)
def tolist_unpacked_and_compared(x):
    a, b = x.tolist()
    if a > b:
        a, b = b, a
    return {"low": a, "high": b, "equal": a == b, "ratio": a / b}


@dataclass
class Meter:
    name: str
    total: float = 0.0
    count: int = 0

    def update(self, value, n=1):
        if value < 0:
            raise ValueError(f"{self.name}: negative value {value}")
        self.total += value * n
        self.count += n

    @property
    def average(self):
        return self.total / max(self.count, 1)

    def __str__(self):
        return f"{self.name} {self.average:.3f}"


@program(inputs=[lambda: (vec(1, 2, 4),), lambda: (vec(1, -2, 4),)])
def meter_of_losses(losses):
    meter = Meter("loss")
    for k in range(losses.shape[0]):
        meter.update(losses[k].item(), n=2)
    print(f"{meter.name}: {meter.average:.3f} over {meter.count}")
    return meter.average


@program(inputs=BOTH)
def context_manager_of_the_users(x):
    with torch.no_grad():
        print("inside", x.sum().item())
        if x.sum() > 0:
            logger.info("positive")
            x = x * 2
    if x.sum() < -1:
        raise ValueError("negative after all: {:.1f}".format(x.sum().item()))
    return x


@program(inputs=[lambda: (randn(2, 2) @ randn(2, 2).T,), lambda: (-torch.eye(2),)])
def cholesky_with_jitter(a):
    chol, info = torch.linalg.cholesky_ex(a)
    jitter = 1e-3
    tries = 0
    while (info > 0) and tries < 3:
        warnings.warn(f"A not p.d., added jitter of {jitter:.1e} to the diagonal", ConvergenceWarning, stacklevel=1)
        chol, info = torch.linalg.cholesky_ex(a + jitter * torch.eye(2))
        jitter = jitter * 10
        tries = tries + 1
    if info > 0:
        raise RuntimeError(f"Matrix not positive definite after repeatedly adding jitter up to {jitter:.1e}.")
    return chol


@program(inputs=[lambda: (vec(1, 2), vec(0.5, 0.5)), lambda: (vec(1, 2), vec(0.5, 0.6)), lambda: (vec(1), vec(1, 0))])
def shape_then_value_checks(x, w):
    if x.shape != w.shape:
        raise ValueError(f"shapes differ: {tuple(x.shape)} and {tuple(w.shape)}")
    if not torch.allclose(w.sum(), torch.tensor(1.0)):
        raise ValueError(f"weights must sum to 1, got {w.sum():.2f}")
    return (x * w).sum()


@program(inputs=BOTH)
def raise_of_a_tuple_of_values(x):
    low = x.min()
    if low < 0:
        error = ValueError("low", float(low), int(x.argmin()))
        raise error
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(1, 20),)])
def error_with_attributes(x):
    if x.max() > 10:
        raise NotConverged(3, x.max().item())
    return x


@program(inputs=BOTH)
def lazy_logging_of_many(x):
    logger.log(logging.INFO, "%s %r %5.1f %d%%", "text", x.tolist(), x.sum().item(), 50)
    if logger is not None and x.sum() > 0:
        logger.critical("%(name)s: %(value).2f", {"name": "sum", "value": x.sum().item()})
    return x


@program(inputs=BOTH)
def print_of_values_before_and_after_write(x):
    first = x[0].item()
    print("before", x, first)
    x[0] = 10
    print("after", x, first)
    if x.sum() > 10:
        x.mul_(2)
        print("doubled", x)
    return first, x


@program(inputs=[lambda: (vec(8, 4),), lambda: (vec(0.5, 0.25),)])
def loop_that_prints_and_returns(x):
    for k in range(4):
        print(f"[{k}] {x.sum().item():>6.2f}")
        if x.sum() < 1:
            print("done")
            return x, k
        x = x / 2
    warnings.warn("maximum number of iterations reached", ConvergenceWarning)
    return x, -1


@program(
    inputs=[lambda: (vec(8, 4), integer(2)), lambda: (vec(0.5, 0.25), integer(0)), lambda: (vec(1, 1), integer(9))]
)
def index_from_item_checked(x, i):
    k = i.item()
    if k >= x.shape[0]:
        raise IndexError(f"index {k} is out of range for {x.shape[0]} entries")
    return x[k], k


@program(inputs=BOTH)
def nested_helpers_with_prints(x):
    depth = 0

    def show(label, v):
        print("  " * depth + label, round(v.sum().item(), 2))

    def step(v):
        nonlocal depth
        depth += 1
        if v.sum() > 0:
            show("positive", v)
            v = v - 1
        else:
            show("negative", v)
        depth -= 1
        return v

    x = step(x)
    show("end", x)
    return step(x)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(3, 2),)])
def assert_async_and_check(x):
    torch._check(x.dim() == 1)
    torch._assert_async(x.sum() > 0)
    torch._assert(x.shape[0] == 2, "two")
    if x[0] > x[1]:
        print("sorted")
        x = x.flip(0)
    return x


@program(inputs=BOTH)
def raise_not_implemented_in_else(x):
    mode = (x.sum() > 0).item()
    if mode:
        return x.sqrt()
    elif not mode:
        raise NotImplementedError
    return x


@program(inputs=[lambda: (vec(2, 2),), lambda: (vec(3, 1),)])
def conditional_message(x):
    tied = bool(x[0] == x[1])
    message = "tied" if tied else f"winner {int(x.argmax())}"
    print(message)
    return tied


@program(inputs=BOTH)
def perplexity_and_early_return(x):
    loss = x.mean().item()
    try:
        perplexity = math.exp(loss)
    except OverflowError:
        perplexity = float("inf")
    print(f"perplexity {perplexity:.2f}")
    return perplexity


@program(inputs=BOTH)
def print_flush_and_stderr_order(x):
    print("one", file=sys.stderr, flush=True)
    print("two")
    sys.stderr.write("three %.1f\n" % x[0])
    if x[0] > 0:
        sys.stderr.write("positive\n")
    print("four", x[0].item())
    return x


@program(inputs=BOTH)
def error_made_before_of_numbers(x):
    error = ValueError("low", float(x.min()), int(x.argmin()))
    if x.min() < 0:
        raise error
    return x


@program(inputs=BOTH)
def error_made_before_of_a_text(x):
    low = x.min()
    if low < 0:
        error = ValueError(f"low {low:.2f}")
        raise error
    return x


@program(inputs=BOTH)
def error_logged_and_printed(x):
    if x.min() < 0:
        error = ValueError("low", x.min().item())
        logger.error("failed: %s", error)
        print(error, repr(error))
    return x


@program(inputs=BOTH)
def chosen_text_with_a_name(x):
    tied = bool(x[0] == x[1])
    message = "tied" if tied else f"winner {int(x.argmax())}"
    print(message)
    return tied


@program(inputs=BOTH)
def chosen_word_in_a_text(x):
    done = x.sum() > 0
    print(f"converged: {'yes' if done else 'no'}, sum {x.sum():.2f}")
    logger.info("state %s", "good" if done else "bad")
    return x


@program(inputs=BOTH)
def chosen_among_three(x):
    s = x.sum()
    print("positive" if s > 5 else "small" if s > 0 else "negative", 3)
    if s > 0:
        raise ValueError("too " + ("large" if s > 5 else "small") + f": {s:.1f}")
    return x


@program(inputs=BOTH)
def chosen_by_logic(x):
    s = x.sum()
    flag = s > 5
    print("a" if not flag and s > 0 else "b")
    print("c" if flag or s < 0 else "d")
    return x


@program(inputs=BOTH)
def chosen_value_of_the_moment(x):
    s = x.sum()
    text = f"{x[0]:.0f}" if s > 0 else "neg"
    x[0] = 100
    print(text)
    return x


@program(inputs=BOTH)
def chosen_text_that_is_measured(x):
    label = "pos" if x.sum() > 0 else "neg"
    print(label)
    return x * len(label)


@program(inputs=BOTH)
def chosen_by_python(x, verbose=True):
    print("loud" if verbose else f"quiet {x.sum().item()}")
    print("vec" if x.ndim == 1 else f"{x.sum()}")
    return x


@program(inputs=BOTH)
def chosen_numbers(x):
    print("max is", x.max().item() if x.sum() > 0 else 0.0)
    print(f"{x[0].item() if x.sum() > 0 else -1.0:.1f}")
    return x


@program(inputs=[lambda: (vec(1, -2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(1, 2, 3),)])
def lists_of_unknown_length_in_texts(x):
    kept = x[x > 0]
    print(f"kept {kept.tolist()}, {(x > 0).nonzero().tolist()} of {x.tolist()}", kept.long().tolist())
    if kept.numel() == 3:
        raise ValueError("all of " + str(kept.tolist()))
    return kept.sum()
