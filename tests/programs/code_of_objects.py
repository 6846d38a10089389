"""Objects whose code reads or rebinds variables of a function, where the text shows no call (analysis/shared.py)."""

import functools

import torch
from torch.utils.checkpoint import checkpoint

from tests.harness import program, vec

SIGNS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 0.5),)]
rate = 0


class Asks:
    """Asks a function whenever Python asks it for something."""

    def __init__(self, ask):
        self.ask = ask

    def __iter__(self):
        return iter((self.ask(), 1))

    def __index__(self):
        return self.ask()

    def __hash__(self):
        self.ask()
        return 1

    def __eq__(self, other):
        self.ask()
        return self is other

    def __add__(self, other):
        self.ask()
        return other

    def __rmul__(self, other):
        self.ask()
        return other * 2

    def __enter__(self):
        return self.ask()

    def __exit__(self, *_):
        self.ask()

    def keys(self):
        return ["a"]

    def __getitem__(self, key):
        return self.ask()

    def update(self, value):
        self.ask()


@program(inputs=SIGNS, factory=True)
def counted_by_an_operator():
    n = 0

    def count():
        nonlocal n
        n = n + 1

    asks = Asks(count)

    def run(x):
        nonlocal n
        if x.sum() > 0:
            asks + x
            n = n * 2
        return n

    return run


@program(inputs=SIGNS, factory=True)
def counted_by_a_method_with_a_known_name():
    n = 0

    def count():
        nonlocal n
        n = n + 1

    meter = Asks(count)

    def run(x):
        nonlocal n
        if x.sum() > 0:
            meter.update(x)
            n = n * 2
        return n

    return run


@program(inputs=SIGNS, factory=True)
def counted_by_a_with_block():
    depth = 0

    def count():
        nonlocal depth
        depth = depth + 1

    scope = Asks(count)

    def run(x):
        nonlocal depth
        if x.sum() > 0:
            with scope:
                x = x * depth
            depth = depth + 1
        return x

    return run


@program(inputs=SIGNS, factory=True)
def counted_by_an_operator_in_a_loop():
    n = 0

    def count():
        nonlocal n
        n = n + 1

    asks = Asks(count)

    def run(x):
        nonlocal n
        n = 0
        while x.abs().sum() < 20:
            x = x * asks
            n = n + 10
        return x, n

    return run


class OfTheModule:
    @property
    def rate(self):
        return rate


@program(inputs=SIGNS, factory=True)
def global_that_a_property_reads():
    one = OfTheModule()

    def run(x):
        global rate
        rate = 1
        if x.sum() > 0:
            rate = 5
            x = x * one.rate
        return x

    return run


@program(inputs=SIGNS)
def unpacked(x):
    n = a = 0
    pair = Asks(lambda: n)
    if x.sum() > 0:
        n = 10
        a, _ = pair
    return a


@program(inputs=SIGNS)
def walked_in_a_branch(x):
    n = a = 0
    rows = Asks(lambda: n)
    if x.sum() > 0:
        n = 10
        for v in rows:
            a = v
            break
    return a


@program(inputs=SIGNS)
def index_of_a_list(x):
    n = a = 0
    place = Asks(lambda: n)
    rows = [1, 2, 3]
    if x.sum() > 0:
        n = 2
        a = rows[place]
    return a


@program(inputs=SIGNS, refused="torch.compile slices lists by numbers alone")
def index_of_a_slice(x):
    n = 0
    place = Asks(lambda: n)
    rows = [1, 2, 3]
    if x.sum() > 0:
        n = 2
        rows = rows[:place]
    return rows


@program(inputs=SIGNS)
def key_of_a_dict(x):
    n = 0

    def count():
        nonlocal n
        n += 1

    key = Asks(count)
    table = {key: 1}
    if x.sum() > 0:
        n = 10
        table[key]
    return n


@program(inputs=SIGNS)
def element_of_a_set(x):
    n = 0

    def count():
        nonlocal n
        n += 1

    key = Asks(count)
    if x.sum() > 0:
        n = 10
        {key}
    return n


@program(inputs=SIGNS)
def subject_of_a_match(x):
    n = a = 0

    def count():
        nonlocal n
        n += 1

    key = Asks(count)
    if x.sum() > 0:
        n = 10
        match key:
            case "a":
                a = 1
            case _:
                a = 2
    return n, a


@program(inputs=SIGNS)
def decorator_that_is_a_partial(x):
    n = 0

    def register(by, function):
        nonlocal n
        n += by
        return function

    two = functools.partial(register, 2)
    if x.sum() > 0:
        n = 10

        @two
        def one():
            return 1

    return n


@program(inputs=SIGNS)
def dict_of_an_object(x):
    n = 0
    one = Asks(lambda: n)
    found = {"a": 0}
    if x.sum() > 0:
        n = 10
        found = {**one}
    return found["a"]


@program(inputs=SIGNS)
def arguments_of_an_object(x):
    n = 0
    one = Asks(lambda: n)
    found = (0, 0)
    if x.sum() > 0:
        n = 10
        found = (*one, 3)
    return found


@program(inputs=SIGNS)
def checkpoint_calls_an_element(x):
    n = 0.0

    def scaled(v):
        return v * n

    functions = [scaled]
    if x.sum() > 0:
        n = 3.0
        x = checkpoint(functions[0], x, use_reentrant=False)
    return x


@program(inputs=SIGNS)
def checkpoint_calls_a_partial(x):
    n = 0.0

    def scaled(by, v):
        return v * n * by

    twice = functools.partial(scaled, 2)
    if x.sum() > 0:
        n = 3.0
        x = checkpoint(twice, x, use_reentrant=False)
    return x


@program(inputs=SIGNS)
def first_or_a_variable_that_its_elements_rebind(x):
    n = 0.0

    def rows():
        nonlocal n
        n = 7.0
        return x

    return next((v for v in rows() if v > 1), n)


class Source:
    def __init__(self):
        self.seen = 0

    def of(self, x):
        self.seen += 1
        return x

    @property
    def rows(self):
        self.seen += 1
        return torch.tensor([0.5, 3.0 - self.seen])


@program(inputs=SIGNS, factory=True)
def first_or_an_attribute_that_a_method_counts():
    source = Source()

    def run(x):
        return next((v for v in source.of(x) if v > 1), source.seen)

    return run


@program(inputs=SIGNS, factory=True)
def first_or_an_attribute_that_a_property_counts():
    source = Source()

    def run(x):
        return next((v for v in source.rows if v > x[0]), source.seen)

    return run


class Forwarding:
    def __init__(self):
        self.asked = 0

    def __getattr__(self, name):
        self.asked += 1
        raise AttributeError(name)

    def __call__(self, v):
        return v * 2


@program(inputs=SIGNS, factory=True)
def closure_with_an_object_that_counts_questions():
    one = Forwarding()

    def run(x):
        if x.sum() > 0:
            x = one(x)
        return x, one.asked

    return run
