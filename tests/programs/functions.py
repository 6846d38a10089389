"""Functions of every make: closures, lambdas, comprehensions, methods, decorators, recursion, partial, exec'd text."""

import functools
import inspect
import math
import operator

import torch

from tests.harness import call, from_text, integer, program, randn, scalar, vec

THRESHOLD = 1.5


def leaky(x, slope=0.1):
    if x.sum() > 0:
        return x
    return x * slope


def power_by_squaring(x, n):
    if n == 0:
        return torch.ones_like(x)
    half = power_by_squaring(x, n // 2)
    if half.sum() > 50:
        half = half / 10
    return half * half if n % 2 == 0 else half * half * x


def logged(function):
    """A decorator as found in user code."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        if result.sum() > 100:
            result = result / 100
        return result

    return wrapper


def repeated(times):
    """A decorator with an argument."""

    def decorate(function):
        @functools.wraps(function)
        def wrapper(x):
            for _ in range(times):
                x = function(x)
            return x

        return wrapper

    return decorate


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -7),)])
def nested_function_with_a_branch(x):
    def shrink(value):
        if value.sum() > 0:
            return value / 2
        return value

    return shrink(x) + shrink(-x)


@program(inputs=[lambda: (vec(1, 2), 3.0), lambda: (vec(-1, -2), 3.0)])
def closure_over_the_arguments(x, factor):
    offset = x.mean()

    def scaled(value):
        if offset > 0:
            return value * factor + offset
        return value - offset

    return scaled(x)


def make_scaler():
    weight = torch.tensor([2.0, 3.0])
    limit = 4

    def scale(x):
        if (x * weight).sum() > limit:
            return x * weight
        return x + limit

    return scale


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 0),)])
def function_that_closes_over_a_tensor():
    return make_scaler()


def both(a, b):
    return a and b


def first_of(a, b):
    return a if a else b


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-3, 2),), lambda: (vec(-1, 0),), lambda: (vec(0.1, 0.2),)])
def helpers_of_a_few_instructions(x):
    return both(x.sum() > 0, x.max() > 1), first_of(x.sum() > 0, x.max() > 1)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -7),)])
def lambda_with_a_ternary(x):
    pick = lambda v, low=-1.0: v.clamp(min=low) if v.sum() < 0 else v * 2  # noqa: E731
    return pick(x) + pick(-x)


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def lambda_as_the_subject():
    return lambda x: x * 2 if x.sum() > 0 else x - 1


@program(inputs=[lambda: ([vec(1), vec(-2), vec(3)],), lambda: ([vec(-1)],), lambda: ([],)])
def comprehension_with_a_ternary(items):
    return [item * 2 if item > 0 else -item for item in items]


@program(inputs=[lambda: ({"a": vec(1, 2), "b": vec(-3, 1)},), lambda: ({"c": vec(5)},)])
def dict_comprehension_with_a_call(tensors):
    return {name: leaky(value) for name, value in tensors.items()}


@program(inputs=[lambda: (vec(1, -2, 3),), lambda: (vec(-1, -2, -3),)])
def generator_in_a_sum(x):
    return sum(value if value > 0 else value * 0 for value in x)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def call_of_a_global_function(x):
    return leaky(x) + leaky(-x, slope=0.5)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(3, 4),)])
def read_of_a_global_number(x):
    if x.mean() > THRESHOLD:
        return x - THRESHOLD
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(10, 20),)])
def calls_three_deep(x):
    def innermost(v):
        return v / v.max() if v.max() > 3 else v

    def middle(v):
        return innermost(v) + leaky(v)

    return middle(x) * 2


@program(inputs=[lambda: (vec(1, 2), 5), lambda: (vec(3, 4), 8), lambda: (vec(1, 2), 0)])
def recursion_on_a_python_number(x, n):
    return power_by_squaring(x, n)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def recursion_of_a_nested_function(x):
    def walk(value, depth):
        if depth == 0:
            return value
        if value.sum() > 0:
            value = value - 0.5
        return walk(value * 1.5, depth - 1)

    return walk(x, 3)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(100, 200),)])
@logged
def decorated_with_wraps(x):
    if x.sum() > 0:
        return x * 3
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
@repeated(times=3)
def decorated_with_an_argument(x):
    return x * 1.5 if x.sum() > 2 else x + 1


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
@torch.no_grad()
def decorated_with_no_grad(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


@program(
    inputs=[
        lambda: (vec(1, 2),),
        lambda: call(vec(-1, -2), scale=4.0),
        lambda: call(vec(1, 2), offset=1.0, clip=True),
        lambda: call(vec(-1, -2), 5.0, clip=True),
    ]
)
def defaults_and_keyword_only(x, scale=2.0, *, offset=0.5, clip=False):
    if x.sum() > 0:
        y = x * scale
    else:
        y = x + offset
    return y.clamp(-3, 3) if clip else y


@program(
    inputs=[lambda: (vec(1), vec(2)), lambda: call(vec(-1), vec(-2), bias=vec(3)), lambda: (vec(1), vec(2), vec(-9))]
)
def varargs_and_kwargs(*tensors, **extras):
    total = sum(tensors)
    if total > 0:
        total = total * len(tensors)
    for name in sorted(extras):
        total = total + extras[name]
    return total


@program(inputs=[lambda: (vec(1, 2), "/"), lambda: call(vec(-1, -2), "/")])
def positional_only(x, y, /, z=1):
    return (x + z if x.sum() > 0 else x - z), y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def partial_called_inside(x):
    steep = functools.partial(leaky, slope=0.9)
    return steep(x) - steep(x * -1)


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def partial_as_the_subject():
    return functools.partial(leaky, slope=0.25)


class Clipper:
    """A callable object with state that it only reads."""

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, x):
        if x.abs().max() > self.limit:
            return x * (self.limit / x.abs().max())
        return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -20),)])
def callable_object_called_inside(x):
    return Clipper(3.0)(x) + Clipper(1.0)(x)


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -20),)])
def callable_object_as_the_subject():
    return Clipper(3.0)


class Schedule:
    """Methods of each kind, and a property."""

    base = 0.5

    def __init__(self, warmup):
        self.warmup = warmup

    @property
    def scale(self):
        return self.base * self.warmup

    @staticmethod
    def squash(x):
        return x.tanh() if x.abs().max() > 1 else x

    @classmethod
    def halved(cls, x):
        if x.sum() > 0:
            return x * cls.base
        return x

    def rate(self, step):
        if step < self.warmup:
            return self.scale * step / self.warmup
        return self.scale * (self.warmup / step) ** 0.5

    def twice(self, step):
        return self.rate(step) + self.rate(step * 2)


@program(factory=True, inputs=[lambda: (scalar(1),), lambda: (scalar(10),), lambda: (scalar(3),)])
def bound_method_as_the_subject():
    return Schedule(4).rate


@program(inputs=[lambda: (scalar(1),), lambda: (scalar(10),), lambda: (scalar(3),)])
def method_that_calls_a_method(step):
    return Schedule(4).twice(step)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(0.1, 0.2),)])
def static_and_class_methods(x):
    return Schedule.squash(x) + Schedule.halved(x) * Schedule(2).scale


class Base:
    """The parent of an override that calls super()."""

    def weight(self, x):
        return x * 2 if x.sum() > 0 else x


class Derived(Base):
    """An override that calls super()."""

    def weight(self, x):
        if x.max() > 5:
            return super().weight(x) / 5
        return super().weight(x) + 1


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(10, 2),), lambda: (vec(-1, -2),)])
def super_in_an_override(x):
    return Derived().weight(x)


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def function_from_a_notebook_cell():
    text = """
        def cell(x):
            if x.sum() > 0:
                y = x * 2  # positive
            else:
                y = x - 1
            return helper(y)

        def helper(y):
            return y / 2 if y.max() > 3 else y
    """
    lines = [line[8:] for line in text.splitlines(keepends=True)[1:]]
    return from_text("".join(lines), "cell", "<ipython-input-7-0123456789ab>")


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def function_passed_as_an_argument(x):
    def apply(function, value):
        return function(value) if value.sum() > 0 else value

    return apply(torch.exp, x) + apply(leaky, -x)


@program(inputs=[lambda: (vec(3, 1, 2),), lambda: (vec(-3, 1, 2),)])
def map_with_a_user_function(x):
    return torch.stack(list(map(lambda v: v * 2 if v > 0 else v, x)))


@program(inputs=[lambda: (vec(1, 2), integer(3)), lambda: (vec(-1, -2), integer(0))])
def loop_that_calls_a_converted_function(x, n):
    for _ in range(n):
        x = leaky(x) - 0.7
    return x


@program(inputs=[lambda: (randn(3, 2),), lambda: (torch.ones(3, 2),)])
def docstring_and_annotations_kept(x: torch.Tensor, *, eps: float = 1e-3) -> tuple[torch.Tensor, int]:
    """Whiten x."""
    if x.std() > eps:
        x = (x - x.mean()) / x.std()
    return x, x.dim()


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def generator_function_called_inside(x):
    def halves(value):
        for _ in range(3):
            value = value / 2
            yield value

    total = x
    for value in halves(x):
        if value.sum() > 0:
            total = total + value
    return total


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def closure_called_in_both_branches(x):
    bias = x.max()

    def shift(value, by):
        return value + bias * by

    if x.sum() > 0:
        y = shift(x, 1)
    else:
        y = shift(x, -1)
    return y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def function_defined_in_each_branch(x):
    if x.sum() > 0:

        def act(v):
            return v * 2

        y = act(x)
    else:

        def act(v):
            return v - 1

        y = act(x)
    return y


def without_source():
    namespace = {"torch": torch}
    exec("def hidden(x):\n    return torch.tanh(x) + 1\n", namespace)
    hidden = namespace["hidden"]

    def caller(x):
        if x.sum() > 0:
            return hidden(x)
        return hidden(-x) * 2

    return caller


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def callee_whose_source_is_gone():
    return without_source()


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def builtins_and_c_functions_called(x):
    parts = list(map(operator.neg, x.unbind()))
    scale = math.prod([2, 3]) + len(parts)
    if x.sum() > 0:
        return operator.mul(x, scale) + sum(parts)
    return x + functools.reduce(torch.add, parts) * abs(-scale)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -7),)])
def two_lambdas_on_one_line(x):
    up, down = (lambda v: v + 1 if v.sum() > 0 else v), (lambda v: v - 1 if v.sum() < 0 else v)
    return up(x) * down(x)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def default_argument_read_at_definition(x):
    scale = 2.0

    def scaled(value, by=scale):
        if value.sum() > 0:
            return value * by
        return value

    scale = 100.0
    return scaled(x) + scale


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def mutual_recursion_of_helpers(x):
    def even(value, n):
        return value if n == 0 else odd(value * 2 if value.sum() > 0 else value, n - 1)

    def odd(value, n):
        return value if n == 0 else even(value + 1, n - 1)

    return even(x, 3)


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(-1, 2, 3),)])
def any_and_all_of_tensors(x):
    flags = [v > 0 for v in x]
    some = any(flags)
    every = all(v > 0 for v in x)
    if any(v > 2 for v in x):
        x = x + 1
    if all(flags):
        x = x * 2
    return some, every, any([]), all([True, 1]), x * 1


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)])
def a_local_function_of_one_branch_reads_a_name_of_it(x):
    if x.sum() > 0:
        offset = x.mean()
        shifted = lambda v: v - offset  # noqa: E731
        y = shifted(x) * 2
    else:
        y = x
    return y


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)])
def a_local_function_of_one_branch_reads_a_name_that_is_bound_again(x):
    offset = x * 0
    if x.sum() > 0:
        offset = x.mean()
        shifted = lambda v: v - offset  # noqa: E731
        y = shifted(x) * 2
    else:
        y = x
    return y + offset


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)])
def a_local_function_of_a_branch_in_a_loop_reads_a_name_of_it(x):
    total = x * 0
    for k in range(3):
        if x.sum() > k:
            offset = x.mean() + k
            shifted = lambda v: v - offset  # noqa: E731
            total = total + shifted(x)
        x = x + 1
    return total


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(0.1, 0.2, 0.3),), lambda: (vec(-1, -2, -3),)])
def a_local_function_of_an_inner_branch_reads_a_name_of_it(x):
    more = None
    if x.sum() > 0:
        if more is None:
            if x.mean() > 1:
                y = x
            else:
                offset = x.mean()
                shifted = lambda v: v - offset  # noqa: E731
                y = shifted(x)
        return y + 1
    offset = x * 1
    return x + offset


@program(
    inputs=[
        lambda: (vec(1, 2, 4), integer(3)),
        lambda: (vec(-1, -2, -4), integer(3)),
        lambda: (vec(1, 1, 1), integer(3)),
    ]
)
def nonlocal_of_a_function_defined_in_a_branch(x, n):
    if x.sum() > 0:

        def count():
            nonlocal n
            if x.std() > 0.5:
                n = n + 1
            return n

        x = x * (count() + count())
    return x, n


def first_that_rises(rows):
    for row in rows:
        if row[-1] > row[0]:
            return row
    return None


def halved_below(t, bound):
    k = 0
    while k < 4:
        if t.sum() < bound:
            return t
        t = t * 0.5
        k += 1
    return None


ROWS = [
    lambda: (torch.tensor([[2.0, 1], [1, 3]]),),
    lambda: (-torch.ones(2, 2),),
    lambda: (torch.tensor([[1.0, 9], [5, 5]]),),
]


@program(inputs=ROWS)
def what_a_loop_in_a_function_finds(m):
    row = first_that_rises((m[0], m[1], -m[0]))
    y = m.sum(0)
    if row is not None:
        y = y + row
    return y


@program(inputs=ROWS)
def what_a_loop_over_rows_finds(m):
    row = first_that_rises(m)
    if row is None:
        return "none rises"
    return row * 2


@program(inputs=ROWS)
def what_a_loop_on_data_finds(m):
    small = halved_below(m, 1.0)
    y = m * 1
    if small is not None:
        y = y + small
    return y, small is None


class Scale:
    def __init__(self, factor):
        self.factor = factor


class Prior(Scale, torch.nn.Module):
    """A module that calls the two constructors by name."""

    def __init__(self, factor, shift):
        torch.nn.Module.__init__(self)
        Scale.__init__(self, factor)
        if shift.sum() > 10:
            raise ValueError("shifts too far")
        self.register_buffer("shift", shift)

    def forward(self, x):
        return x * self.factor + self.shift


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(9, 8),)])
def a_module_made_with_constructors_by_name(x):
    prior = Prior(2, x + 1)
    return prior(x), prior.shift if x.sum() > 0 else prior.factor * x, pow(x, 2) + pow(2, x)


def with_known_arguments(function):
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args, **kwargs):
        if "limit" in signature.bind(*args, **kwargs).arguments and args[1].sum() > 10:
            raise ValueError("too large")
        return function(*args, **kwargs)

    return checked


class Clipped:
    @with_known_arguments
    def __init__(self, x, limit=1.0):
        self.x = x.clamp(max=limit)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(9, 8),)])
def an_object_whose_constructor_is_decorated(x):
    return Clipped(x, limit=1.5).x + Clipped(x - 20).x
