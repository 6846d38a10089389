"""Attributes that branches and loops change: of modules, plain objects, properties, dataclasses, namedtuples."""

from collections import namedtuple
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import nn

from tests.harness import integer, ints, program, randn, scalar, vec

SIGNS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]
THREE = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)]


@program(inputs=THREE)
class CounterOfAModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.positive = 0
        self.negative = 0

    def forward(self, x):
        if x.sum() > 0:
            self.positive += 1
        else:
            self.negative = self.negative + 2
        return x * 2


@program(inputs=THREE)
class FloatOfAModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = 1.0

    def forward(self, x):
        if x.sum() > 0:
            self.rate = self.rate * 0.5
        return x * self.rate


@program(inputs=THREE)
class FlagOfAModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = False

    def forward(self, x):
        if x.sum() > 2:
            self.seen = True
        if self.seen:
            return x * 2
        return x


@program(inputs=THREE)
class TensorAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.zeros(2)

    def forward(self, x):
        if x.sum() > 0:
            self.last = x * 2
        return self.last + x


@program(inputs=THREE)
class BufferRegistered(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ema", torch.zeros(2))
        self.register_buffer("steps", torch.tensor(0))

    def forward(self, x):
        if x.sum() > 0:
            self.ema = self.ema * 0.9 + x * 0.1
            self.steps = self.steps + 1
        return x - self.ema


@program(inputs=THREE)
class NoneUntilFirstUse(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = None

    def forward(self, x):
        if self.center is None:
            self.center = x * 0
        if x.sum() > 0:
            self.center = x
        return x - self.center


@program(inputs=THREE)
class AttributeWrittenInALoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.trips = 0

    def forward(self, x):
        while x.norm() > 1:
            x = x / 2
            self.trips += 1
        return x


@program(inputs=THREE)
class AttributeOfASubmodule(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.inner.uses = 0

    def forward(self, x):
        if x.sum() > 0:
            x = self.inner(x)
            self.inner.uses += 1
        return x


@program(inputs=THREE)
class MethodThatWrites(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def note(self, amount):
        self.count += amount

    def forward(self, x):
        if x.sum() > 0:
            self.note(2)
        return x * 2


@program(inputs=THREE)
class MethodThatBranchesAndWrites(nn.Module):
    def __init__(self):
        super().__init__()
        self.best = -1.0
        self.register_buffer("top", torch.zeros(2))

    def remember(self, x):
        if x.max() > self.top.max():
            self.top = x.clone()

    def forward(self, x):
        self.remember(x)
        return self.top * 2


class Box:
    """A plain object with a value."""

    def __init__(self, value=0, tensor=None):
        self.value = value
        self.tensor = tensor


@program(inputs=[lambda: (vec(1, 2), Box(1)), lambda: (vec(-1, -2), Box(1))])
def number_of_an_object(x, box):
    if x.sum() > 0:
        box.value += 1
    return x * box.value


@program(inputs=[lambda: (vec(1, 2), Box(1)), lambda: (vec(-1, -2), Box(1))])
def attribute_set_on_both_sides(x, box):
    if x.sum() > 0:
        box.tensor = x
    else:
        box.tensor = -x
    return box.tensor * 2


@program(inputs=[lambda: (vec(1, 2), Box(1, vec(0, 0))), lambda: (vec(-1, -2), Box(1, vec(0, 0)))])
def tensor_of_an_object_in_place(x, box):
    if x.sum() > 0:
        box.tensor.add_(x)
    else:
        box.tensor[0] = 9
    return box.tensor.sum()


@program(inputs=[lambda: (vec(1, 2), Box(1, vec(0, 0))), lambda: (vec(-1, -2), Box(1, vec(0, 0)))])
def tensor_of_an_object_augmented(x, box):
    alias = box.tensor
    if x.sum() > 0:
        box.tensor += x
    return alias


@program(inputs=SIGNS)
def local_object(x):
    box = Box(0, x)
    if x.sum() > 0:
        box.value = 3
        box.tensor = box.tensor + 1
    return box.value, box.tensor


@program(refused="one of two objects", inputs=SIGNS)
def object_chosen_in_a_branch(x):
    a, b = Box(1, x), Box(2, -x)
    chosen = a
    if x.sum() < 0:
        chosen = b
    return chosen.tensor * chosen.value


@program(refused="an object of a class of the user's", inputs=SIGNS)
def object_made_in_a_branch(x):
    if x.sum() > 0:
        box = Box(1, x)
    else:
        box = Box(2, x * 3)
    return box.tensor * box.value


class Thermostat:
    """A property whose setter has an effect of its own."""

    def __init__(self):
        self._level = 0.0
        self.sets = 0

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        self._level = value * 2
        self.sets += 1


@program(inputs=[lambda: (vec(1, 2), Thermostat()), lambda: (vec(-1, -2), Thermostat())])
def property_with_a_setter(x, thermostat):
    if x.sum() > 0:
        thermostat.level = 3.0
    return x * thermostat.level


@program(inputs=[lambda: (vec(1, 2), Thermostat()), lambda: (vec(-1, -2), Thermostat())])
def property_set_on_both_sides(x, thermostat):
    if x.sum() > 0:
        thermostat.level = 3.0
    else:
        thermostat.level = 5.0
    return x * thermostat.level


@program(inputs=[lambda: (vec(1, 2), Thermostat()), lambda: (vec(-1, -2), Thermostat())])
def property_read_in_a_branch(x, thermostat):
    thermostat.level = 2.0
    if x.sum() > 0:
        y = x * thermostat.level
    else:
        y = x - thermostat.level
    return y


class RungeKutta:
    """What a solver keeps between steps."""

    def __init__(self, y, dt):
        self.t = torch.zeros(())
        self.y = y
        self.dt = dt
        self.steps = 0

    def step(self):
        k1 = -self.y
        k2 = -(self.y + self.dt * k1)
        self.y = self.y + self.dt * (k1 + k2) / 2
        self.t = self.t + self.dt
        self.steps += 1

    def integrate(self, end):
        while self.t < end:
            self.step()
        return self.y


@program(inputs=[lambda: (vec(1, 2), scalar(1)), lambda: (vec(1, 2), scalar(0))])
def solver_with_a_step_method(y, end):
    solver = RungeKutta(y, 0.25)
    result = solver.integrate(end)
    return result, solver.t, solver.steps


@program(inputs=[lambda: (RungeKutta(vec(1, 2), 0.25), scalar(1)), lambda: (RungeKutta(vec(1, 2), 0.25), scalar(0))])
def solver_of_the_caller(solver, end):
    while solver.t < end:
        solver.y = solver.y * (1 - solver.dt)
        solver.t = solver.t + solver.dt
        solver.steps += 1
    return solver.y


@program(inputs=[lambda: (RungeKutta(vec(1, 2), 0.25), scalar(1)), lambda: (RungeKutta(vec(1, 2), 0.25), scalar(0))])
def method_of_the_callers_solver(solver, end):
    while solver.t < end:
        solver.step()
    return solver.y


State = namedtuple("State", ["h", "c", "n"])


class Point(NamedTuple):
    """A named pair."""

    x: torch.Tensor
    n: int = 0


@dataclass
class Running:
    """A mutable record."""

    mean: torch.Tensor
    count: int = 0
    log: list = field(default_factory=list)


@dataclass(frozen=True)
class Frozen:
    """A record that is rebuilt."""

    x: torch.Tensor
    n: int = 0


@program(inputs=SIGNS)
def namedtuple_rebuilt(x):
    state = State(x, x * 2, 0)
    if x.sum() > 0:
        state = State(state.h + 1, state.c, state.n + 1)
    return state


@program(inputs=SIGNS)
def namedtuple_replaced(x):
    state = State(x, x * 2, 0)
    if x.sum() > 0:
        state = state._replace(h=x * 5, n=3)
    return state


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),)])
def namedtuple_carried(x):
    p = Point(x)
    while p.x > 1:
        p = Point(p.x / 2, p.n + 1)
    return p


@program(inputs=SIGNS)
def dataclass_rebuilt(x):
    r = Frozen(x)
    if x.sum() > 0:
        r = Frozen(r.x * 2, r.n + 1)
    return r.x, r.n


@program(inputs=SIGNS)
def dataclass_replaced(x):
    r = Frozen(x)
    if x.sum() > 0:
        r = replace(r, n=5)
    return r.x * r.n


@program(inputs=SIGNS)
def dataclass_returned(x):
    if x.sum() > 0:
        r = Frozen(x * 2, 1)
    else:
        r = Frozen(x * 3, 2)
    return r


@program(inputs=[lambda: (vec(1, 2), Running(vec(0, 0))), lambda: (vec(-1, -2), Running(vec(0, 0)))])
def dataclass_of_the_caller(x, r):
    if x.sum() > 0:
        r.mean = r.mean * 0.5 + x
        r.count += 1
    return r.mean * r.count


@program(inputs=[lambda: (integer(3), Running(vec(0, 0))), lambda: (integer(0), Running(vec(0, 0)))])
def dataclass_updated_in_a_loop(n, r):
    for i in range(n):
        r.mean = r.mean + i
        r.count += 1
    return r.mean


@program(inputs=SIGNS)
def local_dataclass_updated(x):
    r = Running(x)
    if x.sum() > 0:
        r.mean = x * 2
        r.count = r.count + 1
    return r.mean, r.count


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),)])
def local_dataclass_in_a_while(x):
    r = Running(x)
    while r.mean > 1:
        r.mean = r.mean / 2
        r.count += 1
    return r.mean, r.count


@program(inputs=[lambda: (vec(1, 2), Running(vec(0, 0))), lambda: (vec(-1, -2), Running(vec(0, 0)))])
def list_of_a_dataclass(x, r):
    if x.sum() > 0:
        r.log.append(x * 2)
    else:
        r.log.append(x)
    return len(r.log)


@program(inputs=[lambda: (vec(1, 2), Running(vec(0, 0))), lambda: (vec(-1, -2), Running(vec(0, 0)))])
def two_names_of_one_object(x, r):
    other = r
    if x.sum() > 0:
        r.count += 1
        other.mean = x
    return other.count, r.mean


@program(inputs=[lambda: (vec(1, 2), Box(Box(1))), lambda: (vec(-1, -2), Box(Box(1)))])
def attribute_of_an_attribute(x, box):
    if x.sum() > 0:
        box.value.value = 7
    return x * box.value.value


@program(inputs=SIGNS)
def setattr_in_a_branch(x):
    box = Box(0, x)
    if x.sum() > 0:
        setattr(box, "value", 4)  # noqa: B010
    return box.value


@program(inputs=SIGNS)
def object_written_and_passed_on(x):
    box = Box(1, x)

    def total(b):
        return b.tensor.sum() * b.value

    if x.sum() > 0:
        box.value = 5
        y = total(box)
    else:
        y = total(box)
    return y


@program(inputs=[lambda: (randn(3, 2),), lambda: (-randn(3, 2).abs(),)])
class CodebookUsage(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("usage", torch.zeros(3))
        self.resets = 0

    def forward(self, x):
        hits = (x > 0).float().sum(1)
        self.usage = self.usage * 0.5 + hits
        if (self.usage < 0.5).any():
            self.usage = torch.ones_like(self.usage)
            self.resets = self.resets + 1
        return self.usage * 2


@program(inputs=THREE)
class WriteThenEarlyReturn(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        if x.sum() > 0:
            self.calls += 1
            return x * 2
        return x


@program(inputs=THREE)
class ClassAttribute(nn.Module):
    limit = 4.0

    def forward(self, x):
        if x.sum() > self.limit:
            return x / self.limit
        return x


class Euler:
    def __init__(self, dt):
        self.t = torch.tensor(0.0)
        self.y = torch.tensor(1.0)
        self.dt = dt
        self.steps = 0

    def step(self):
        self.y = self.y - self.dt * self.y
        self.t = self.t + self.dt
        self.steps += 1


@program(inputs=[lambda: (Euler(0.25), scalar(1)), lambda: (Euler(0.1), scalar(1)), lambda: (Euler(0.3), scalar(-1))])
def step_size_that_changes_between_calls(solver, end):
    while solver.t < end:
        solver.step()
    if solver.y > 0.5:
        solver.y = solver.y * solver.dt
    return solver.y, solver.steps


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def norm(self):
        return (self.x**2 + self.y**2).sqrt()


@program(inputs=SIGNS)
def plain_object_of_either_branch(x):
    if x.sum() > 0:
        v = Vector(x[0], x[1])
    else:
        v = Vector(x[1], x[0])
    return v.x - v.y, v.norm()


@program(inputs=SIGNS)
def plain_object_returned(x):
    v = Vector(x[0], 3.0)
    if v.norm() > 3.1:
        return v * 0.5
    return Vector(x[1], 7.0)


@program(inputs=THREE)
def plain_object_replaced_on_one_side(x):
    v = Vector(x[0], x[1])
    if v.norm() > 3:
        v = v * 0.5
    return v.x, v.y


@program(inputs=THREE)
def plain_object_replaced_in_a_while(x):
    v, trips = Vector(Vector(x[0], x[1]), "unit"), 0
    while v.x.norm() > 2.5:
        v = Vector(v.x * 0.5, v.y)
        trips += 1
    return v.x.x, v.y, trips


class SolverState:
    def __init__(self, t, y):
        self.t, self.y, self.label, self.steps = t, y, "decay", 0


def decayed(state):
    new = SolverState(state.t + 0.3, state.y * 0.7)
    new.steps = state.steps + 1
    if new.y.sum() < 0.2:
        new.y = new.y + 1
    return new


@program(inputs=SIGNS, grad=True)
def state_object_rebuilt_by_a_solver(x):
    state = SolverState(torch.tensor(0.0), x)
    while state.t < 1:
        state = decayed(state)
    return state.y, state.t, state.steps, state.label


@program(inputs=[lambda: (SolverState(scalar(0), vec(1, 2)),), lambda: (SolverState(scalar(2), vec(1, 2)),)])
def state_object_of_the_caller_rebuilt(state):
    while state.t < 1:
        state = decayed(state)
    return state.y, state.steps


@program(inputs=SIGNS, refused="an object that the loop may have left as it was")
def alias_of_an_object_that_a_loop_replaces(x):
    v = Vector(x[0], x[1])
    first = v
    while v.norm() > 10:
        v = v * 0.5
    v.x = v.x + 100
    return first.x, v.x


@dataclass
class Derived:
    value: torch.Tensor
    trips: int = 0
    log: list = field(default_factory=list, init=False)

    def __post_init__(self):
        self.double = self.value * 2


@program(inputs=SIGNS)
def dataclass_that_computes_a_field(x):
    one = Derived(x)
    while one.double.sum() > 1:
        one = Derived(one.value / 2, one.trips + 1)
    return one.value, one.double, one.trips


class Plateau:
    def __init__(self):
        self._rate = 0.1
        self.sets = 0
        self.bad = 0
        self.best = None

    @property
    def rate(self):
        return self._rate

    @rate.setter
    def rate(self, value):
        self.sets += 1
        self._rate = max(value, 0.06)

    def step(self, loss):
        if self.best is None or loss < self.best:
            self.best = loss
            self.bad = 0
        else:
            self.bad += 1
        if self.bad > 1:
            self.rate = self.rate * 0.5
            self.bad = 0


@program(inputs=[lambda: (Plateau(), vec(3, 4, 5, 6)), lambda: (Plateau(), vec(3, 2, 1, 0))])
def property_of_self(plateau, losses):
    for i in range(4):
        plateau.step(losses[i])
    return plateau.rate, plateau.sets, plateau.bad


@program(inputs=THREE)
class PropertyOfAModule(nn.Module):
    def __init__(self):
        super().__init__()
        self._scale = 1.0

    @property
    def scale(self):
        return self._scale

    @scale.setter
    def scale(self, value):
        self._scale = value * 2

    def forward(self, x):
        if x.sum() > 3:
            self.scale = 3.0
        return x * self.scale


class PrivateCache:
    """Its attribute is private: the class gives it another name than the text does."""

    def __init__(self, x):
        self._fresh = True
        self.__found = x

    @property
    def found(self):
        if self._fresh and self.__found.sum() > 0:
            self.__found = self.__found * 2
        return self.__found

    def restart(self, x):
        if x.sum() > 3:
            self.__found = x
        return self.__found


@program(inputs=THREE)
def private_attributes(x):
    cache = PrivateCache(x + 1)
    return cache.found + cache.restart(x), cache.found


class Steps(torch.optim.Optimizer):
    def __init__(self):
        super().__init__([{"params": [torch.ones(2)], "scale": 1.0}], {})

    def step(self, closure=None):
        (group,) = self.param_groups
        total = torch.tensor([0.0])
        for group in self.param_groups:
            total.add_(group["params"][0].abs().sum() - 1)
        if total == 0:
            return 0
        for group in self.param_groups:
            group["scale"] = max(group["scale"], total.item())
            group["seen"] = True
        return len(self.param_groups[0])


@program(inputs=[lambda: (Steps(), vec(1, 2)), lambda: (Steps(), vec(0.5, 0))])
def groups_of_an_optimizer(optimizer, x):
    optimizer.param_groups[0]["params"][0].copy_(x)
    return optimizer.step(), optimizer.param_groups


class Tagged(nn.Parameter):
    """A parameter of a type of its own, as manifolds have them."""


class StepsOfTagged(torch.optim.Optimizer):
    def __init__(self):
        super().__init__([{"params": [Tagged(torch.ones(2)), nn.Parameter(torch.ones(2))]}], {})

    @torch.no_grad()
    def step(self, closure=None):
        for p in self.param_groups[0]["params"]:
            p.mul_(2 if isinstance(p, Tagged) else 3)
            if p.sum() > 4:
                p.add_(1)


@program(inputs=[lambda: (StepsOfTagged(),)])
def parameters_of_a_type_of_their_own(optimizer):
    optimizer.step()
    return [p.detach() * 1 for p in optimizer.param_groups[0]["params"]]


class Stepper:
    def __init__(self, y):
        self.state = (y, 0.5)
        self.steps = 0

    def step(self):
        y, h = self.state
        new = y - h * y
        if (new - y).abs().max() < 0.5:
            self.state = (new, h * 1.5)
        else:
            self.state = (y, h * 0.5)
        self.steps += 1


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(0.1, 0.2),), lambda: (vec(-3, 0),)])
def tuple_in_an_attribute_that_a_loop_replaces(x):
    stepper = Stepper(x)
    while stepper.state[1] < 1 and stepper.steps < 4:
        stepper.step()
    return stepper.state, stepper.steps


class StopAt:
    def __init__(self):
        self.last = ints(3)

    def __call__(self, tokens):
        self.last = self.last.to(tokens.device)
        return torch.isin(tokens[-1:], self.last).any()


@program(inputs=[lambda: (ints(1, 5),), lambda: (ints(1, 3),)], factory=True)
def attribute_that_is_given_the_tensor_that_it_has():
    stop = StopAt()

    def run(tokens):
        n = 0
        while not stop(tokens):
            tokens = (tokens + 1) % 7
            n += 1
        return tokens, n, stop.last * 1

    return run


class Shape:
    sides = 4

    def __init__(self):
        self.scratch = torch.ones(2)


@program(inputs=[lambda: (vec(-1, -2), Shape()), lambda: (vec(1, 2), Shape())])
def attribute_deleted_in_both_branches(x, shape):
    if x.sum() > 0:
        y = x
        del shape.scratch
    else:
        shape.last = shape.scratch * 2
        y = shape.last
        del shape.scratch, shape.last
    return y + 1, hasattr(shape, "scratch"), hasattr(shape, "last")


@program(inputs=[lambda: (vec(-1, -2), Shape()), lambda: (vec(1, 2), Shape())])
def attribute_deleted_in_one_branch(x, shape):
    if x.sum() > 0:
        del shape.scratch
    return x + 1, hasattr(shape, "scratch")


@program(inputs=[lambda: (vec(-1, -2), Shape()), lambda: (vec(1, 2), Shape()), lambda: (vec(-9, 2), Shape())])
def attribute_that_some_paths_set(x, shape):
    if x.sum() > -5:
        if x.sum() > 0:
            shape.kind = "up"
        shape.size = x.sum()
    return x * shape.sides


@program(inputs=[lambda: (vec(-1, -2), Shape()), lambda: (vec(1, 2), Shape())])
def attribute_of_the_class_hidden_on_one_path(x, shape):
    if x.sum() > 0:
        shape.sides = shape.sides * 3
    return x * shape.sides


@program(inputs=[lambda: (vec(1, 2), Shape(), integer(0)), lambda: (vec(1, 2), Shape(), integer(3))])
def attribute_of_the_class_hidden_in_a_loop(x, shape, n):
    while n > 0:
        shape.sides = shape.sides * 3
        n = n - 1
    return x * shape.sides


@program(inputs=[lambda: (vec(-1, 2),), lambda: (vec(1, 7),)])
class CountsInAnAttributeOfTheClass(nn.Module):
    steps = 0
    last = None

    def forward(self, x):
        if x.sum() > 5:
            self.steps += 1
            self.last = x
        return x * self.steps


@program(inputs=[lambda: (vec(-1, -2), Shape()), lambda: (vec(1, 2), Shape())])
def attribute_of_the_class_hidden_on_both_paths(x, shape):
    if x.sum() > 0:
        shape.sides = 3
    else:
        shape.sides = shape.sides + 1
    return x * shape.sides


ROWS = [lambda: (vec(0.5, 0, -2, 0),), lambda: (vec(0, 0, 0.4, 0),), lambda: (vec(0, 0, 0, 0),)]


@program(inputs=ROWS)
class SkipsAndCounts(nn.Module):
    def __init__(self):
        super().__init__()
        self.skipped = 0
        self.warned = False
        self.register_buffer("kept", torch.zeros(()))

    def forward(self, x):
        for e in x:
            if e == 0:
                if not self.warned:
                    print("zero")
                    self.warned = True
                self.skipped += 1
                continue
            self.kept += 1
        return self.kept / 2, self.skipped


@program(inputs=ROWS)
class StopsAndCounts(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0
        self.stops = 0

    def forward(self, x):
        for row in (x, x + 1):
            for e in row:
                if e > 0.3:
                    self.stops += 1
                    break
                self.steps += 1
            else:
                self.steps += 100
                continue
            self.steps += 1000
        return self.steps


class Inspector:
    def __init__(self):
        self.seen = 0
        self.bad = 0

    def look(self, x):
        for _ in x:
            self.seen += 1
        if x.sum() < 0:
            self.bad += 1
            raise ValueError(f"negative: {x.sum().item()}")
        return self.seen


@program(inputs=ROWS, factory=True)
def raises_and_counts():
    return Inspector().look


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 2),), lambda: (vec(1, -3),), lambda: (vec(1, 2),)])
class WritesBehindTheEndOnAPathNotTaken(nn.Module):
    def __init__(self):
        super().__init__()
        self.at = 1
        self.register_buffer("ring", torch.zeros(2))

    def forward(self, x):
        if x.sum() > 0:
            self.ring[self.at] = x[0]
            self.at += 1
        return self.ring.sum()


class Solver:
    def __init__(self):
        self.v = vec(0.5, -0.5, 1)

    def step(self, old):
        self.v = torch.tanh(old)
        return old


class Runner:
    def __init__(self):
        self.solver = Solver()

    def advance(self):
        self.solver.v = self.solver.v + 1

    def run(self, x):
        solver = self.solver
        if x.sum() > 0:
            solver.v.zero_()
        else:
            self.advance()
            solver.v.mul_(3)
        return solver.v.sum()


@program(inputs=SIGNS[::-1], factory=True)
def written_in_place_or_by_a_method():
    solver = Solver()

    def run(x):
        if x.sum() > 0:
            solver.v.zero_()
        else:
            solver.step(solver.v)
        return solver.v.sum()

    return run


@program(inputs=SIGNS[::-1], factory=True)
def written_in_place_or_by_who_has_it_too():
    return Runner().run


@program(inputs=SIGNS[::-1], factory=True)
def written_in_place_or_by_a_function_around_it():
    solver = Solver()

    def double():
        solver.v = solver.v * 2

    def run(x):
        for _ in range(2):
            if x.sum() > 0:
                solver.v.zero_()
            else:
                double()
            solver.v[0] += 1
        return solver.v.sum()

    return run


class Child:
    def __init__(self, parent):
        self.parent = parent

    def update(self):
        self.parent.v = self.parent.v * 2

    def seen(self):
        return self.parent.n


class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("v", vec(0.5, -1))
        self.n = 0
        self.__dict__["child"] = Child(self)

    def doubled(self):
        for row in (1, 2, 3):
            self.v = self.v * 2
            yield row


@program(inputs=SIGNS[::-1])
class BufferThatAChildBindsAnew(Parent):
    def forward(self, x):
        if x.sum() > 0:
            self.v.zero_()
        else:
            self.child.update()
        return self.v.sum()


@program(inputs=SIGNS)
class CounterThatAChildReads(Parent):
    def forward(self, x):
        child = self.child
        if x.sum() > 0:
            self.n += 1
            y = x + child.seen()
        else:
            y = x * 2
        return y, self.n


@program(inputs=SIGNS[::-1])
class BufferThatAFunctionBindsAnew(Parent):
    def forward(self, x):
        def double():
            self.v = self.v * 2

        if x.sum() > 0:
            self.v.zero_()
        else:
            double()
        return self.v.sum()


@program(inputs=SIGNS[::-1])
class BufferUnderTwoNames(Parent):
    def forward(self, x):
        me = self
        if x.sum() < 0:
            self.v.mul_(2)
            me.v = x * 3
            self.v.add_(1)
        return self.v.sum()


@program(inputs=SIGNS[::-1], refused="the generator writes to what was there before the loop")
class BufferThatAGeneratorBindsAnew(Parent):
    def forward(self, x):
        rows = self.doubled()
        for row in rows:
            self.v[0] = x.sum()
            if x.sum() > row:
                break
        return self.v.sum()


@program(inputs=SIGNS)
class CounterThatAPropertyReads(Parent):
    @property
    def more(self):
        return self.next()

    def next(self):
        return self.n + 1

    def forward(self, x):
        y = x
        if x.sum() > 0:
            self.n += 1
            y = x + self.more
        return y, self.n


@program(inputs=SIGNS[::-1])
class BufferThatAWithBindsAnew(Parent):
    def __enter__(self):
        self.v = self.v * 2

    def __exit__(self, *_):
        self.v = self.v + 1

    def forward(self, x):
        if x.sum() > 0:
            self.v.zero_()
        else:
            with self:
                x = x + 1
        return self.v.sum(), x


@dataclass
class Labelled:
    value: torch.Tensor
    label: str = ""


@program(inputs=SIGNS)
def beside_the_fields_of_a_dataclass(x):
    if x.sum() > 0:
        t = Labelled(x)
        t.seen = 3
    else:
        t = Labelled(x * 2)
        t.seen = 4
    return t, t.seen


@program(inputs=SIGNS)
def beside_the_fields_on_one_path(x):
    t = Labelled(x)
    t.seen = [x]
    if x.sum() > 0:
        t = Labelled(x * 2)
    t.after = x + 1
    return t


@program(inputs=SIGNS)
def beside_the_fields_of_one_inside(x):
    t = Labelled(x)
    if x.sum() > 0:
        t.value = Labelled(x * 2, "inner")
        t.value.seen = x
    return t


@dataclass(frozen=True)
class Rate:
    base: float = 1.0

    @cached_property
    def doubled(self):
        return self.base * 2


RATES = [lambda sign=sign: (vec(1, 2) * sign, Rate()) for sign in (1, -1, 1, -1)]


@program(inputs=RATES, refused="a cached property of what a branch gives, or leaves as it was")
def cached_behind_a_branch(x, rate):
    new = rate
    if x.sum() > 0:
        new = replace(rate, base=3.0)
    return x * new.doubled, new


@program(inputs=RATES, refused="a cached property of what a branch gives, or leaves as it was")
def cached_of_the_one_from_before(x, rate):
    new = rate
    if x.sum() > 0:
        new = replace(rate, base=3.0)
    y = x * rate.doubled
    return y * new.base, "doubled" in vars(new), new


@program(inputs=RATES)
def cached_before_a_branch(x, rate):
    y = x * rate.doubled
    if x.sum() > 0:
        rate = replace(rate, base=3.0)
    return y, rate
