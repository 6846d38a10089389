"""Calls in loops and comprehensions that give values of different types: None or a tensor, strings, True or None."""

import torch

from tests.harness import program, vec

THREE = [lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(5, -9, 0.5),)]


def clip(v):
    if v > 2:
        return None
    return v


def counted_clip(v, n):
    if v * n > 2:
        return None, n
    return v, n + 1


def status(v):
    if v > 4:
        return "high", v
    if v < -4:
        return "low", -v
    return "ok", v


class Tracker:
    def __init__(self):
        self.best = None
        self.bad = 0

    def update(self, v):
        if self.best is None or v > self.best:
            self.best = v
            self.bad = 0
            return True
        self.bad += 1
        if self.bad > 1:
            return None
        return False


class Scaler:
    def __init__(self):
        self.scale = 8.0
        self.good = 0

    def step(self, g):
        if g.abs().max() > 4:
            self.scale /= 2
            self.good = 0
            return None
        self.good += 1
        return g / self.scale


@program(inputs=THREE)
def none_or_a_tensor_appended(x):
    outs = []
    for v in x:
        outs.append(clip(v))
    return outs


@program(inputs=THREE)
def kept_when_it_is_not_none(x):
    outs = []
    for v in x:
        y = clip(v)
        if y is not None:
            outs.append(y)
    return outs


@program(inputs=THREE)
def passed_over_when_it_is_none(x):
    outs = []
    for v in x:
        y = clip(v)
        if y is None:
            continue
        outs.append(y)
    return torch.stack(outs).sum() if outs else None


@program(inputs=THREE)
def left_when_it_is_none(x):
    total = 0
    for k in range(3):
        y = clip(x[k])
        if y is None:
            break
        total = total + y
    return total, k


@program(inputs=THREE)
def strings_of_three_kinds(x):
    n = 0
    for v in x:
        s, w = status(v)
        if s != "ok":
            print(s)
            n += 1
        x = x + w
    return x, n


@program(inputs=THREE)
def while_that_returns_at_none(x):
    y = x
    while y.sum() < 10:
        r = clip(y.max() / 10)
        if r is None:
            return "stopped", y
        y = y + 1 + r
    return y


@program(inputs=THREE)
def none_beside_a_counter(x):
    n = int(x.sum())
    outs = []
    for v in x:
        y, n = counted_clip(v, n)
        if y is None:
            continue
        outs.append(y * n)
    return outs, n


@program(inputs=THREE)
def method_with_three_answers(x):
    t = Tracker()
    res = []
    for v in x:
        r = t.update(v)
        if r is None:
            print("stop")
            break
        res.append(r)
    return t.best, t.bad, res


@program(inputs=THREE, grad=True)
def none_in_a_sum_with_gradients(x):
    total = 0
    for v in x:
        y = clip(v)
        total = total + (y * y if y is not None else 1.0)
    return total


@program(inputs=THREE)
def while_over_both_kinds(x):
    n = 0
    while n < 6:
        r = clip(x.max())
        if r is None:
            x = x - 1
        else:
            x = x * 1.5
        n += 1
    return x, n


@program(inputs=THREE)
def writes_of_one_kind(x):
    y = x * 1
    for v in x:
        r = clip(v)
        if r is not None:
            y.add_(r)
        else:
            y[0] = 0
    return y


@program(inputs=THREE)
def comprehension_of_both_kinds(x):
    return [clip(v) for v in x]


@program(inputs=THREE)
def comprehension_over_a_range_of_steps(x):
    scaler = Scaler()
    steps = [scaler.step(x * k) for k in range(1, 4)]
    kept = [one for one in steps if one is not None]
    return scaler.scale, scaler.good, len(kept)


@program(inputs=THREE)
def arguments_that_are_calls_themselves(x):
    total = 0.0
    for k in range(3):
        found = clip(x[k].clone().abs() + float(k))
        if found is not None:
            total = total + found
    return total
