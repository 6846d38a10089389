"""Jumps that data decide on, out of `with` and `try`, with something behind them in the block or in its `else`."""

import torch

from tests.harness import program, scalar, vec

THREES = (lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(1, 1, -1),), lambda: (vec(9, 9, 9),))
NUMBERS = (lambda: (scalar(3.0),), lambda: (scalar(-1.0),), lambda: (scalar(100.0),))
KEYED = (lambda: (vec(1, 2, 3), 2), lambda: (vec(-1, -2, -3), 2), lambda: (vec(1, 1, 1), 0))


@program(inputs=KEYED)
def else_breaks(x, k):
    table = {2: 2.0}
    n = 0
    while True:
        try:
            f = table[k]
        except KeyError as e:
            print("missing", e)
            table[k] = 3.0
        else:
            x = x * f
            n += 1
            if x.sum() < 0 or x.max() > 50:
                break
            if n > 8:
                print("too many")
                break
    return x, n


@program(inputs=KEYED)
def else_with_finally(x, k):
    table = {2: 2.0}
    for i in range(3):
        try:
            f = table[k]
        except KeyError:
            table[k] = 3.0
            continue
        else:
            x = x * f
            if x.sum() < 0:
                return x, i
        finally:
            print("trip", i)
        x = x + 1
    return x, -1


@program(inputs=KEYED)
def else_returns(x, k):
    try:
        y = x[k]
    except IndexError:
        return None
    else:
        if y < 0:
            return -y
    print("positive", y.item())
    return y


@program(inputs=THREES)
def raises_and_else(x):
    n = 0
    for v in x:
        try:
            if v < 0:
                raise ValueError(f"negative: {v.item()}")
            w = v * 2
        except ValueError as e:
            print(e)
            n -= 1
        else:
            if w > 10:
                break
            n += 1
    return n


@program(inputs=THREES)
def with_break_in_the_middle(x):
    total = torch.zeros(())
    n = 0
    for v in x:
        with torch.no_grad():
            y = v * 2
            if y < 0:
                break
            total += y
            if total > 10:
                n += 100
                continue
            n += 1
        n += 10
    return total, n


@program(grad=True, inputs=NUMBERS)
def while_with_break_in_with(x):
    n = 0
    while x > 1:
        with torch.enable_grad():
            x = x / 2
            if n > 3:
                break
            if x < 1.2:
                x = x - 0.1
                continue
            x = x + 0.01
        n += 1
    return x, n


@program(inputs=THREES)
def finally_sees_the_break(x):
    n = 0
    for k, v in enumerate(x):
        try:
            n += 1
            if v < 0:
                break
            n += 10
            if v > 5:
                continue
            n += 100
        finally:
            n += 1000
            print("left", k, n)
        n += 10000
    return n


@program(inputs=THREES)
def break_in_handler(x):
    table = [1.0, 2.0]
    n = 0
    out = torch.zeros(())
    for k, v in enumerate(x):
        try:
            w = table[k] * v
            if w > 8:
                out = out + 100
                break
            out = out + w
        except IndexError:
            print("out of range")
            if v > 0:
                n = -1
                break
            n += 5
        n += 1
    return out, n


@program(inputs=THREES)
def raise_and_break(x):
    n = 0
    for v in x:
        try:
            if v < 0:
                raise ValueError(f"negative: {v.item()}")
            if v > 5:
                break
            n += 1
        except ValueError as e:
            print(e)
            n -= 1
        n += 10
    return n


@program(inputs=THREES)
def bound_behind_the_break(x):
    for v in x:
        with torch.no_grad():
            if v > 2:
                break
            w = v * 2
        z = w + 1
    else:
        return w - z
    return v


@program(inputs=THREES)
def nested_with_and_inner_loop(x):
    n = 0
    for v in x:
        with torch.no_grad():
            with torch.enable_grad():
                for u in x:
                    if u > v:
                        break
                    n += 1
                if v < 0:
                    continue
                n += 100
            if n > 205:
                break
            n += 1000
        n += 10000
    return n


@program(inputs=THREES)
def returns_and_breaks(x):
    n = 0
    for v in x:
        with torch.no_grad():
            y = v * 2
            if y < -3:
                return y, n
            if y < 0:
                break
            n += 1
            if y > 10:
                continue
        n += 1000
    return x.sum(), n


@program(inputs=THREES)
def nested_withs_return(x):
    with torch.no_grad():
        y = x * 2
        with torch.enable_grad():
            z = y.sum()
            if z > 20:
                return z
            y = y + 1
        if y[0] < 0:
            return y[0]
        y = y * 2
    return y.max() + z


@program(grad=True, inputs=NUMBERS)
def return_in_while_in_with(x):
    n = 0
    while n < 4:
        with torch.enable_grad():
            while x > 10:
                x = x / 3
                if x < 12:
                    return x * 2, n
            if x < 0:
                return x, -1
            x = x * 1.5
        n += 1
    return x, n


class Shown:
    def __enter__(self):
        print("in")

    def __exit__(self, *_):
        print("out")


@program(grad=True, inputs=THREES)
def no_grad_covers_nothing_behind_a_trip_that_returns(x):
    for k in range(2):
        with torch.no_grad():
            if x.sum() > 5 + k:
                return x - k
    return x * 0.7


@program(grad=True, inputs=THREES)
def no_grad_covers_no_trip_behind_one_that_breaks(x):
    y = x
    for k in range(3):
        y = x * (k + 1)
        with torch.no_grad():
            if y.sum() > 5 + k:
                break
    return y * 3


@program(inputs=THREES)
def a_context_ends_with_the_trip_that_it_is_in(x):
    for k in range(2):
        if k > -1:
            with Shown():
                if x.sum() > 5 + k:
                    return x
    print("behind")
    return x * 2


@program(inputs=THREES)
def finally_comes_before_the_next_trip(x):
    for k in range(2):
        try:
            if x.sum() > 5 + k:
                return x
        finally:
            print("trip", k)
    print("behind")
    return x * 2
