"""Exceptions under tensor tests that the program itself handles: `except`, `else`, `finally`, `with`."""

import contextlib
import logging
import math
import operator

import torch
from torch import nn

from tests.harness import program, vec

logger = logging.getLogger("programs.caught")
BOTH = [lambda: (vec(3, 4),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)]
DEFINITE = [lambda: (torch.eye(2),), lambda: (-torch.eye(2),)]


def positive_refused(x):
    if x.sum() > 0:
        raise ValueError(f"positive {x.sum().item():.1f}")
    return x.exp()


@program(inputs=BOTH)
def all_blocks_of_a_try(x):
    print("start")
    try:
        y = positive_refused(x)
        print("fine")
    except ValueError as error:
        print("caught", error)
        y = x * 0
    else:
        y = y + 1
    finally:
        print("finally")
    return y


@program(inputs=BOTH)
def handler_of_another_type(x):
    try:
        y = positive_refused(x)
    except KeyError:
        y = x
    finally:
        x.add_(1)
    return y


@program(inputs=BOTH)
def writes_before_and_in_the_handler(x):
    x[0] += 1
    try:
        x[1] = 7
        if x.sum() > 0:
            x[0] = 9
            raise RuntimeError("stop")
        x[0] = -5
    except RuntimeError as error:
        logger.error("failed: %s", error)
        x.mul_(2)
    return x


@program(inputs=BOTH)
def suppressed(x):
    with contextlib.suppress(ValueError):
        x = positive_refused(x)
    return x


@program(inputs=BOTH)
def random_numbers_before_and_after(x):
    y = torch.rand(2)
    try:
        if x.sum() > 0:
            raise ValueError("positive")
        y = y + torch.rand(2)
    except ValueError:
        y = y - torch.rand(2)
    return y


@program(inputs=BOTH, grad=True)
def in_a_loop_with_gradients(x):
    for k in range(3):
        try:
            if x[0] > k:
                raise ValueError(k)
            x = x * 2
        except ValueError as error:
            print("trip", error.args[0])
            x = x - 1
    return x


@program(inputs=BOTH)
def chained_in_the_handler(x):
    try:
        return positive_refused(x)
    except ValueError as error:
        raise RuntimeError("cannot go on") from error


@program(inputs=DEFINITE)
def error_of_torch(a):
    try:
        return torch.linalg.cholesky(a)
    except RuntimeError:
        print("not positive definite")
        return torch.linalg.cholesky(a + 3 * torch.eye(2))


@program(inputs=DEFINITE)
def error_of_torch_that_nobody_handles(a):
    print("before")
    y = torch.linalg.cholesky(a)
    if y.sum() > 5:
        y = y + 1
    return y


@program(inputs=BOTH)
def overflow_of_math(x):
    loss = x.mean().item() * 1000
    try:
        perplexity = math.exp(loss)
    except OverflowError:
        perplexity = float("inf")
    return perplexity


@program(inputs=[lambda: (vec(3, 4), [1]), lambda: (vec(-1, -2), [1])])
def lists_appended_to(x, log):
    log.append(2)
    try:
        log.append(3)
        if x.sum() > 0:
            raise ValueError("positive")
        log.append(4)
    except ValueError:
        log.append(5)
    return x


@program(inputs=BOTH)
def division_by_zero(x):
    k = int(x[0] - 3)
    try:
        return 1 / k
    except ZeroDivisionError:
        return 0.0


@program(inputs=BOTH, grad=True)
class SecondAttempt(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("failures", torch.tensor(0))
        self.layer = nn.Linear(2, 2)

    def strict(self, x):
        if (x > 3).any():
            raise ValueError("too large")
        return self.layer(x)

    def forward(self, x):
        try:
            return self.strict(x)
        except ValueError:
            self.failures += 1
            return self.strict(x.clamp(max=3))


@program(inputs=BOTH, grad=True)
class StatisticsBeforeTheException(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(1)
        self.fails = 0

    def forward(self, x):
        y = self.bn(x[:, None])
        try:
            if x.sum() > 0:
                raise ValueError("positive")
        except ValueError:
            self.fails += 1
            y = y * 2
        return y


@program(inputs=BOTH)
def dropout_then_raise(x):
    y = torch.nn.functional.dropout(x, 0.5, True)
    try:
        if x.sum() > 0:
            raise ValueError("positive")
    except ValueError:
        y = y + torch.rand(2)
    return y, torch.rand(1)


@program(inputs=BOTH)
def view_written(x):
    v = x[:1]
    v.add_(1)
    try:
        v.mul_(2)
        if x.sum() > 3:
            raise ValueError("big")
        x[1] = 0
    except ValueError:
        v.sub_(5)
    return x, v


@program(inputs=BOTH, factory=True)
def counted_in_a_closure():
    count = 0

    def counted(x):
        nonlocal count
        count += 1
        try:
            if x.sum() > 0:
                raise ValueError(count)
        except ValueError:
            count += 10
        return x + count

    return counted


@program(inputs=[lambda: (vec(3, 4), torch.tensor([5])), lambda: (vec(-1, -2), torch.tensor([0]))])
def index_error_handled(x, k):
    try:
        return x[k]
    except IndexError:
        return x[:1] * 0


ENDS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]
OUT_OF_TRY = "what follows the jump would be in a branch, which `finally` does not see"


@program(inputs=ENDS, refused=OUT_OF_TRY)
def finally_that_reads_what_is_bound_behind_a_return(x):
    n = 0
    try:
        if x.sum() > 0:
            return n
        n = 5
        x = x + 1
    finally:
        print("done", n)
    return x


@program(inputs=ENDS, refused=OUT_OF_TRY)
def finally_that_fills_a_list_which_is_returned(x):
    log = []
    try:
        if x.sum() > 0:
            return x * 2, log
        x = x + 1
    finally:
        log.append(x[0] * 1)
    return x, log


@program(inputs=ENDS, refused=OUT_OF_TRY)
def finally_that_binds_what_is_read_later(x):
    k = 0
    for i in range(3):
        try:
            if x.sum() > i:
                return x * k
            x = x + 1
        finally:
            k = k + 1
    return x + k


@program(inputs=ENDS)
def finally_that_sees_nothing_of_it(x):
    try:
        if x.sum() > 0:
            return x * 2
        y = x + 1
    finally:
        print("done", x.sum())
    return y


@program(
    inputs=[lambda: (vec(1, 2), vec(1, 2)), lambda: (vec(100, 2), vec(1, 2))],
    refused="Inductor cannot write to what an expanded tensor shows",
)
def an_operator_fails_behind_writes_to_arguments(x, t):
    rows = t.expand(3, 2)
    t *= 2
    try:
        if x.sum() > 20:
            rows += 1  # more than one element refers to a single memory location
        else:
            t += 1
    except RuntimeError as error:
        kind = type(error).__name__
    else:
        kind = "none"
    return rows, t, kind


DIVISIONS = (operator.truediv, operator.floordiv, operator.mod, divmod, operator.itruediv, operator.ifloordiv)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def by_a_zero_that_is_known(x):
    texts = []
    for number in (int(x.sum()), x[0].item()):
        for zero in (0, 0.0, False, len([])):
            for divide in DIVISIONS:
                try:
                    texts.append(divide(number, zero))
                except ZeroDivisionError as error:
                    texts.append(str(error))
    try:
        divmod(number)
    except TypeError as error:
        texts.append(str(error))
    if x.sum() > 0:
        texts.append(number / zero)
    return texts


@program(inputs=BOTH)
def bound_in_a_branch_and_read_by_the_else_of_a_try(x):
    y, z = x * 0, x
    try:
        if x.sum() > 1:
            y = x
        else:
            y = -x
    except ValueError:
        pass
    else:
        z = y + 1
    return z


@program(inputs=BOTH)
def a_name_of_a_handler_in_the_else_of_a_try(x):
    k = 0
    for i in range(3):
        try:
            if x.sum() > 1:
                raise ValueError(i)
            x = x + 1
        except ValueError as stop:
            k = stop.args[0]
        else:
            x = x * 2
    return x, k
