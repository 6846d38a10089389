"""Exceptions under tensor tests: type, message, line, and that nothing happens after them."""

# ruff: noqa: UP031, UP032, F841, C416 (the ways in which users write it)

import contextlib

import torch
from torch import nn

from tests.harness import from_text, integer, program, scalar, vec

BOTH = [lambda: (vec(3, 4),), lambda: (vec(-1, -2),)]
CHECKED = [lambda: (vec(3, 4),), lambda: (vec(-1, 2),), lambda: (vec(float("nan"), 1),)]


class DomainError(ValueError):
    """An exception of the user's, with a constructor of its own."""

    def __init__(self, what, low):
        super().__init__(f"{what}: {low}")
        self.low = low


@program(inputs=CHECKED)
def validation(x):
    if (x < 0).any():
        raise ValueError("negative")
    if x.isnan().any():
        raise FloatingPointError("nan")
    return x.sqrt()


@program(inputs=CHECKED)
def message_with_values(x):
    if x.min() < 0:
        raise ValueError(f"lowest {x.min().item():.2f} of {x.shape[0]}: {x}")
    return x


@program(inputs=CHECKED)
def message_by_percent_and_format(x):
    if x.min() < 0:
        raise ValueError("lowest %.1f, %s" % (x.min().item(), x))
    if x.isnan().any():
        raise ValueError("nan in {} {:.1f}".format(x, x[1].item()))
    return x


@program(inputs=CHECKED)
def several_arguments(x):
    if x.min() < 0:
        raise KeyError("low", x.min().item(), 3)
    return x


@program(inputs=CHECKED)
def exception_of_the_users(x):
    if x.min() < 0:
        raise DomainError("low", x.min().item())
    return x


@program(inputs=CHECKED)
def exception_of_the_users_by_keyword(x):
    if x.min() < 0:
        raise DomainError(what="low", low=-1)
    return x


@program(inputs=CHECKED)
def class_without_arguments(x):
    if x.min() < 0:
        raise StopAsyncIteration
    return x


@program(inputs=CHECKED)
def exception_made_before(x):
    error = ValueError("made before")
    if x.min() < 0:
        raise error
    return x


@program(inputs=CHECKED)
def raise_from_none(x):
    if x.min() < 0:
        raise ValueError("from none") from None
    return x


@program(inputs=CHECKED)
def message_made_before(x):
    message = f"bad values, first is {x[0].item():.1f}"
    if x.min() < 0:
        raise ValueError(message)
    return x


@program(inputs=CHECKED)
def implicit_concatenation(x):
    if x.min() < 0:
        raise ValueError(f"a long message with {x.min().item():.1f} in three parts")
    return x


@program(inputs=BOTH)
def prints_before_and_after(x):
    print("before", x)
    if x.sum() > 0:
        print("about to raise")
        raise RuntimeError("positive")
    print("after")
    return x


@program(inputs=BOTH)
def write_before_is_kept(x):
    x[0] = 5
    if x[1] > 0:
        raise ValueError("positive")
    x[1] = 9
    return x


@program(inputs=BOTH)
def write_in_the_raising_branch(x):
    if x.sum() > 0:
        x += 1
        raise ValueError("positive")
    x -= 1
    return x


@program(inputs=BOTH)
def raise_in_both_branches(x):
    if x.sum() > 0:
        raise ValueError("positive")
    else:
        raise TypeError("negative")


@program(inputs=BOTH)
def raise_in_else(x):
    if x.sum() > 0:
        y = x * 2
    else:
        raise ValueError("not positive")
    return y + 1


@program(inputs=[lambda: (vec(3, 4),), lambda: (vec(0.1, 0),), lambda: (vec(-1, -2),)])
def raise_in_elif(x):
    if x.sum() > 1:
        y = x
    elif x.sum() > 0:
        y = -x
    else:
        raise ValueError("third")
    return y


@program(inputs=[lambda: (vec(3, 4),), lambda: (vec(0.5, 1),), lambda: (vec(-1, -2),)])
def nested_raise(x):
    if x.sum() > 0:
        if x.max() > 2:
            print("deep")
            raise ValueError(f"deep {x.max().item()}")
        x = x + 1
    return x


@program(inputs=[lambda: (integer(0),), lambda: (integer(2),), lambda: (integer(6),)])
def raise_in_a_tensor_loop(n):
    total = torch.tensor(0)
    for i in range(n):
        print("trip", i)
        if i > 3:
            raise OverflowError(f"trip {i}")
        total = total + i
    return total


@program(inputs=[lambda: (scalar(0.5),), lambda: (scalar(3.0),), lambda: (scalar(100.0),)])
def raise_in_a_while(t):
    steps = 0
    while t > 1:
        t = t / 2
        steps += 1
        if steps > 4:
            raise RuntimeError("did not converge after %d steps" % steps)
    return t, steps


@program(inputs=[lambda: (scalar(0.5),), lambda: (scalar(3.0),), lambda: (scalar(100.0),)])
def for_else_raises(t):
    for _ in range(4):
        t = t / 2
        if t < 1:
            break
    else:
        raise RuntimeError("did not converge")
    return t


@program(inputs=BOTH)
def raise_in_a_python_loop(x):
    for k, value in enumerate(x):
        if value < 0:
            raise IndexError(f"element {k} is {value.item()}")
    return x.sqrt()


def check_positive(x, name="x"):
    if not (x > 0).all():
        raise ValueError(f"{name} must be positive")


def checked_root(x):
    check_positive(x, name="argument")
    return x.sqrt()


@program(inputs=BOTH)
def raise_in_called_functions(x):
    print("start")
    y = checked_root(x)
    print("not after a raise")
    return y


@program(inputs=CHECKED, grad=True)
class ValidatingModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def check(self, x):
        if x.isnan().any():
            raise ValueError("nan in the input")
        if (x < 0).any():
            raise ValueError(f"negative input: {x.min().item():.2f}")

    def forward(self, x):
        self.check(x)
        y = self.layer(x)
        if y.isinf().any():
            raise OverflowError("inf")
        return y


@program(inputs=BOTH)
def caught_here(x):
    try:
        if x.sum() > 0:
            raise ValueError("positive")
        y = x
    except ValueError:
        y = x * 100
    return y


@program(inputs=BOTH)
def caught_from_a_callee(x):
    try:
        y = checked_root(x)
    except ValueError as error:
        print("caught", error)
        y = x * 0
    return y


@program(inputs=BOTH)
def raise_under_finally(x):
    try:
        if x.sum() > 0:
            raise ValueError("positive")
        print("fine")
    finally:
        print("finally")
    return x


@program(inputs=BOTH)
def raise_under_no_grad(x):
    with torch.no_grad():
        if x.sum() > 0:
            raise ValueError("positive")
    return x


@program(inputs=BOTH)
def python_validation_first(x):
    if x.dim() != 1:
        raise ValueError("need a vector")
    if x.sum() > 0:
        raise ValueError("positive")
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (torch.ones(2, 2),)])
def only_python_validation(x):
    print("before", x.sum())
    if x.dim() != 1:
        raise ValueError(f"need a vector, got {x.dim()} dimensions")
    a, b = x.unbind()
    if a > 3:
        a = a + b
    return a


@program(inputs=[lambda: (vec(1, 2), 2), lambda: (vec(1, 2), -2), lambda: (vec(100, 2), 2)])
def number_argument_checked(x, n):
    if n < 0:
        raise ValueError(f"n is {n}")
    if x.sum() > 100:
        x = x / n
    return x


@program(inputs=CHECKED)
def torch_checks_kept(x):
    torch._assert_async((x == x).all(), "nan")
    torch._check(x.shape[0] == 2, lambda: "two")
    return x + 1


@program(inputs=BOTH)
def raise_in_a_ternary_callee(x):
    def fail():
        raise ValueError("called")

    y = x + 1 if x.sum() > 0 else fail()
    return y


@program(inputs=BOTH)
def raise_without_tensor_result(x):
    if x.sum() > 0:
        raise ValueError("positive")


@program(inputs=[lambda: (vec(3, 4), 2.0), lambda: (vec(-1, -2), 2.0), lambda: (vec(3, 4), 0.5)])
def early_return_then_raise(x, k):
    if x.sum() < 0:
        return x
    if k > 1:
        raise ValueError("k")
    return x * k


@program(inputs=BOTH)
def raise_after_list_append(x):
    out = []
    out.append(x.sum())
    if x.sum() > 0:
        raise ValueError(f"{len(out)} {out[0].item()}")
    return out


@program(inputs=[lambda: (vec(3, 4), [1]), lambda: (vec(-1, -2), [1])])
def argument_list_appended_before_raise(x, log):
    log.append(len(log))
    if x.sum() > 0:
        raise ValueError("p")
    log.append(99)
    return x


@program(inputs=BOTH)
def assert_false_in_else(x):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x
        assert x.max() > 0, f"max {x.max().item()}"
    return y


@program(inputs=BOTH)
def python_try_catches_python_error(x):
    try:
        raise KeyError("k")
    except KeyError as e:
        print("caught", e)
    if x.sum() > 0:
        x = x + 1
    return x


@program(inputs=BOTH)
def try_inside_loop(x):
    for k in range(2):
        try:
            if x.sum() > k:
                x = x - 1
        except RuntimeError:
            x = x + 100
    return x


@program(inputs=BOTH)
def nested_raises_and_prints(x):
    for k in range(2):
        print("k", k)
        if x[k] > 3:
            print("big")
            if x.sum() > 6:
                raise OverflowError(f"{k}: {x[k].item()}")
        print("end", k)
    return x


@program(inputs=BOTH)
def raise_with_tensor_arg(x):
    if x.sum() > 0:
        raise ValueError(x, x.sum(), [x.max()])
    return x


@program(inputs=BOTH)
def nested_tensor_fn_raise(x):
    def inner(v):
        if v.sum() > 5:
            raise ValueError("inner %.1f" % v.sum().item())
        return v + 1

    y = inner(x)
    print("after inner")
    return inner(y)


ASSERTS = """\
import torch

def plain_assert(x):
    assert (x > 0).all()
    return x.log()

def assert_with_message(x):
    assert x.min() > 0, "must be positive"
    assert x.dim() == 1, "vector"
    return x.log()

def assert_with_values(x):
    print("before")
    assert x.min() > 0, f"lowest is {x.min().item():.2f} in {x}"
    print("after")
    return x

def assert_with_a_tuple(x):
    assert x.min() > 0, ("low", x.min().item())
    return x

def assert_with_a_tensor(x):
    assert x.min() > 0, x
    return x

def assert_in_a_branch(x):
    if x.sum() > 1:
        assert x.max() < 3.5, f"largest {x.max()}"
        x = x * 2
    return x

def assert_in_a_loop(x):
    for k in range(3):
        assert x.sum() < 10 - k, "trip %d" % k
        x = x * 1.3
    return x

def assert_of_logic(x):
    assert x.sum() > 0 and x.max() < 100, "logic"
    assert not x.isnan().any()
    return x

def assert_torch_answers(x):
    assert torch.isfinite(x).all(), "finite"
    assert torch.allclose(x, x), "close"
    assert torch.equal(x, x.abs()), "negative"
    return x
"""


def _asserts():
    """From text: pytest gives the `assert` statements of the files it imports messages of their own."""
    for line in ASSERTS.splitlines():
        if line.startswith("def "):
            name = line[4 : line.index("(")]
            function = from_text(ASSERTS, name, __file__.replace("raises.py", "asserts_of_raises.py"))
            function.__module__ = __name__
            yield name, program(inputs=[*CHECKED, lambda: (vec(1, 2),)])(function)


globals().update(_asserts())


@program(inputs=[lambda: (vec(1, 1),), lambda: (vec(9, 9),), lambda: (vec(-50, -50),)])
def raise_behind_a_loop_that_returns(x):
    for k in range(3):
        x = x + 10**k / 10
        if x.sum() > 15:
            return x
    raise ValueError(f"still {x.sum().item():.1f} after {k}")


@program(inputs=[lambda: (vec(1, 1),), lambda: (vec(9, 9),)])
def raise_in_a_loop_that_returns(x):
    for k in range(3):
        if x.sum() > 15:
            return x * 1
        x = x + 1
        if k == 1:
            raise ValueError("two trips")
    return -x


@program(
    inputs=[
        lambda: ({"w": vec(1, 2), "b": vec(0.5)}, 1.0),
        lambda: ({"w": vec(0.1, 0.1), "b": vec(0)}, 1.0),
        lambda: ({"w": vec(float("nan"), 1), "b": vec(1)}, 1.0),
    ]
)
def clipped_unless_some_are_not_finite(grads, max_norm):
    total = torch.sqrt(sum((g**2).sum() for g in grads.values()))
    if not torch.isfinite(total):
        bad = [name for name, g in grads.items() if not torch.isfinite(g).all()]
        raise RuntimeError(f"{len(bad)} gradients are not finite: {bad}, norm {total.item()}")
    coef = max_norm / (total + 1e-6)
    if coef < 1:
        for g in grads.values():
            g.mul_(coef)
    return total


class Noted:
    """Swallows what is raised inside, and notes it."""

    def __init__(self, notes):
        self.notes = notes

    def __enter__(self):
        self.notes.append("in")

    def __exit__(self, kind, error, trace):
        self.notes.append("out" if kind is None else str(error))
        return kind is ValueError


SWALLOWED = [lambda: (vec(1, 2), vec(5)), lambda: (vec(0.2, 0.3), vec(5)), lambda: (vec(-3, 2), vec(5))]


@program(inputs=SWALLOWED)
def bound_in_a_block_that_swallows(x, y):
    notes = []
    if x.sum() > 0:
        with Noted(notes):
            if x.sum() > 1:
                raise ValueError("too much")
            y = x + 1
    if y.sum() > 2:
        return x, y, notes
    return y, notes


@program(refused="the branches give one object with a list", inputs=SWALLOWED)
def bound_in_a_block_and_read_in_a_loop(x, y):
    notes = []
    if x.sum() > 0:
        with Noted(notes):
            if x.sum() > 1:
                raise ValueError("too much")
            y = x + 1
    for row in x:
        with Noted(notes):
            if y.sum() > row + 4:
                return x, notes
    return y, notes


@program(inputs=SWALLOWED)
def suppressed_before_a_name_is_bound_anew(x, y):
    found = {"a": x}
    if x.sum() > 0:
        with contextlib.suppress(KeyError):
            y = found["b"]
        y = y + 1
    return y


# Rows that an iteration gives are of `unbind`: autograd lets nothing be written into one that has a gradient.
ROWS = [lambda: (torch.ones(3, 2),), lambda: (-torch.ones(3, 2),)]


@program(inputs=ROWS, grad=True)
def row_of_a_loop_written_in_a_branch(x):
    if x.sum() > 0:
        z = x * 2
        for row in z:
            row.mul_(2)
        x = x + z
    return x


@program(inputs=ROWS, grad=True)
def unpacked_row_written_in_a_branch(x):
    if x.sum() > 0:
        z = x * 2
        _, second, _ = z
        second[second > 0] = 1.0
        x = x + z
    return x


@program(inputs=ROWS, grad=True)
def rows_without_a_gradient_written(x):
    z = x.detach() * 2
    for row in z:
        if row.sum() > 0:
            row.mul_(2)
    first, *others = z
    if x.sum() > 0:
        others[0].add_(first)
    return x * z
