"""Exceptions that data decide on and that the same function handles: they need no decorator."""

import torch

from tests.harness import program, vec

BOTH = [lambda: (vec(1, 2),), lambda: (vec(4, 6),), lambda: (vec(-1, 0.5),)]


@program(inputs=BOTH)
def fallback_for_negative_numbers(x):
    try:
        if (x < 0).any():
            raise ValueError("negative")
        y = x.sqrt()
    except ValueError:
        y = x.abs()
    return y * 2


@program(inputs=BOTH, grad=True)
def handled_assertion_with_gradients(x):
    try:
        assert x.sum() > 5, "small"
        v = x * x
    except AssertionError:
        v = x - 1
    return v.sum()


@program(inputs=BOTH)
def argument_of_the_exception(x):
    w = x
    try:
        if x.sum() > 3:
            raise ValueError(3)
    except ValueError as error:
        w = x - error.args[0]
    return w


@program(inputs=BOTH)
def return_of_each_block(x):
    try:
        if (x < 0).any():
            raise ValueError("negative")
        return x.sqrt()
    except ValueError:
        return x.abs()


@program(inputs=BOTH)
def divergence_in_a_python_range(x):
    n = 0
    try:
        for _ in range(5):
            x = x * 2
            n += 1
            if x.sum() > 20:
                raise RuntimeError("diverged")
    except RuntimeError:
        x = x / 2
    return x, n


@program(inputs=BOTH)
def overflow_in_a_while(x):
    try:
        while x.abs().sum() < 100:
            x = x * 2
            if x.max() > 20:
                raise OverflowError
    except (OverflowError, ValueError):
        x = x * 0
    finally:
        print("done")
    return x


@program(inputs=BOTH)
def handler_of_another_exception(x):
    try:
        if x.sum() > 5:
            raise KeyError("a")
        y = x
    except ValueError:
        y = x + 100
    return y


@program(inputs=BOTH)
def handled_in_each_trip(x):
    for _ in range(3):
        try:
            if x.sum() > 6:
                raise ValueError
            x = x * 2
        except ValueError:
            x = x - 1
    return x


@program(inputs=BOTH)
def two_exceptions_and_their_texts(x):
    try:
        if x.sum() > 5:
            raise ValueError(f"large {x.sum():.2f}")
        if x.sum() < 0:
            raise TypeError("negative")
        x = x + 1
    except ValueError as error:
        print("value", error)
        x = x * 2
    except TypeError as error:
        print("type", error)
        x = x * 3
    return x


@program(inputs=BOTH)
def another_exception_from_the_handler(x):
    try:
        if x.sum() > 5:
            raise ValueError("large")
        x = x + 1
    except ValueError as error:
        raise RuntimeError("converted") from error
    return x


@program(inputs=BOTH)
def handlers_do_not_see_what_they_raise(x):
    try:
        if x.sum() > 5:
            raise ValueError("first")
        x = x + 1
    except ValueError:
        x = x + int(f"{x.ndim}") if x.numel() == 2 else x
        raise ValueError("second")  # noqa: B904
    return x


@program(inputs=BOTH)
def tests_in_the_handler(x):
    try:
        if x.sum() > 5:
            raise ValueError("large")
        if x.sum() < 0:
            return x
        x = x + 1
    except ValueError:
        if x.max() > 5:
            return x * 0
        x = x * 2
    return x + 5


@program(inputs=BOTH)
def nested_test_before_the_exception(x):
    try:
        if x.sum() > 0:
            if x.max() > 5:
                raise ValueError("large")
            x = x + 1
        x = x * 2
    except ValueError:
        x = torch.zeros(2)
    return x


@program(inputs=BOTH)
def writes_before_the_exception(x):
    y = torch.zeros(2)
    try:
        y.add_(x)
        if x.sum() > 5:
            y[0] = 7.0
            raise ValueError
        y.mul_(2)
    except ValueError:
        y.sub_(1)
    return y


@program(inputs=BOTH)
def else_of_a_try(x):
    try:
        if x.sum() > 5:
            raise ValueError("large")
        if x.sum() < 0:
            raise TypeError("negative")
        y = x + 1
    except ValueError:
        y = x * 2
    except TypeError:
        y = x * 3
    else:
        print("else")
        y = y + 10
    finally:
        print("finally")
    return y


@program(inputs=BOTH, refused="the handler stands in a loop that the block leaves")
def break_out_of_a_try(x):
    for _ in range(3):
        try:
            if x.sum() > 9:
                raise ValueError
            x = x * 2
            if x.max() > 100:
                break
        except ValueError:
            x = x - 3
    return x


@program(inputs=BOTH)
def exception_of_a_loop_before_a_copy_of_what_it_hands_through(x):
    y = x
    try:
        for _ in range(3):
            y = torch.where(y.sum() > 9, y, y * 2)
            if y.sum() > 15:
                raise RuntimeError("diverged")
        y = y + 1
    except RuntimeError:
        y = y - 1
    if x.sum() > 2:
        y = x
    if y is not x:
        x.copy_(y)
    return y
