"""Variables that branches and loops bind, and that functions which they call read or rebind (analysis/shared.py)."""

import types

import torch

from tests.harness import program, vec

SIGNS = [lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(0.1, -0.2, 0.3),)]
FROM_THE_GRAPH = "handlers run in Python, the exception comes from the graph"
calls = 0


def count():
    global calls
    calls += 1


@program(inputs=SIGNS)
def rebound_by_a_function_and_by_the_branch(x):
    n = 0

    def bump():
        nonlocal n
        n += 1
        return n

    if x.sum() > 0:
        n = bump() + bump()
        n = n * 2
    else:
        bump()
    return n


@program(inputs=SIGNS)
def rebound_by_a_function_of_a_function(x):
    n = 0

    def bump():
        nonlocal n
        n += 1

    def twice():
        bump()
        bump()

    if x.sum() > 0:
        twice()
        n = n * 3
    return n


@program(inputs=SIGNS)
def rebound_by_a_function_that_is_kept_elsewhere(x):
    n = 0

    def bump():
        nonlocal n
        n += 1

    hooks = [bump]
    if x.sum() > 0:
        n = n + 5
        hooks[0]()
        n = n * 2
    return n


@program(inputs=SIGNS)
def read_by_a_function(x):
    k = 1
    scaled = lambda v: v * k
    if x.sum() > 0:
        k = 2
        x = scaled(x)
    return x, k


@program(inputs=SIGNS)
def none_until_a_function_finds_it(x):
    best = None

    def visit(v):
        nonlocal best
        if best is None or v > best:
            best = v

    if x[0] > 0:
        visit(x[0])
    if x[2] > 0:
        visit(x[2])
    if best is None:
        best = torch.tensor(-1.0)
    return best


@program(inputs=SIGNS)
def rebound_in_a_loop(x):
    n = 0

    def put(v):
        nonlocal n
        n = v

    while x.sum() > 1:
        put(n + 1)
        x = x / 2
        n = n + 1
    return n, x


@program(inputs=SIGNS)
def rebound_in_a_loop_that_breaks(x):
    n = x

    def reset():
        nonlocal n
        n = torch.zeros(3)

    for v in x:
        if v > 0:
            reset()
            break
        n = n + 1
    return n


@program(inputs=SIGNS)
def target_of_a_loop_that_a_function_reads(x):
    i = -1
    double = lambda: i * 2
    total = 0
    for i in range(int(x.abs().sum())):
        total = total + double()
    return total, i


@program(inputs=SIGNS, factory=True)
def rebound_by_a_sibling():
    n = 0

    def bump():
        nonlocal n
        n += 1

    def main(x):
        nonlocal n
        if x.sum() > 0:
            bump()
            n = n * 2
        i = 0
        while i < x.sum():
            bump()
            n = n * 2
            i += 1
        return n

    return main


@program(inputs=SIGNS, factory=True)
def rebound_by_a_sibling_before_a_return():
    n = 0

    def bump():
        nonlocal n
        n += 1

    def main(x):
        nonlocal n
        if x.sum() > 0:
            bump()
            return n + x
        n = 0
        return n - x

    return main


@program(inputs=SIGNS)
def variable_of_the_module(x):
    global calls
    calls = 1
    if x.sum() > 0:
        count()
        calls = calls * 3
    count()
    i = 0
    while i < x.sum():
        count()
        calls = calls + 3
        i += 1
    return x * calls


@program(inputs=SIGNS)
def variable_of_the_module_that_is_tested(x):
    global calls
    calls = 1
    if x.sum() > 0:
        count()
    return x if calls > 1 else x * 2


@program(inputs=SIGNS, refused=FROM_THE_GRAPH)
def written_before_an_exception_that_others_see(x):
    left = 3

    def spend(x):
        nonlocal left
        if x.sum() > 0:
            left -= 1
            if x.max() > 1:
                raise ValueError("too much")
            left -= 1
        return x * left

    try:
        y = spend(x)
    except ValueError:
        y = x
    return y, left


@program(inputs=SIGNS, refused=FROM_THE_GRAPH)
def written_in_a_loop_before_an_exception(x):
    left = 3

    def spend(x):
        nonlocal left
        while x.sum() > 1:
            left = left - 1
            x = x / 2
            assert x.max() < 1.2
        return x * left

    try:
        y = spend(x)
    except AssertionError:
        y = x
    return y, left


# What runs later reads what a branch has bound: iterators of each kind, and functions that functions have made.
ASKED = [lambda: (vec(1, 2, 3), True), lambda: (vec(-1, -2, -3), False)]


def doubled(x):
    return x * 2 if x.sum() > 0 else x


@program(inputs=ASKED)
def read_by_a_generator_expression(x, wanted):
    step, total = 1, 0
    moved = (one + step for one in (2, 3, 5))
    if wanted:
        step += 1
        total += next(moved)
    return doubled(x), total, list(moved)


@program(inputs=ASKED)
def read_by_a_generator_expression_in_a_loop(x, wanted):
    step, total = 1, 0
    moved = (one + step for one in (2, 3, 5, 7))
    while wanted and step < 3:
        step += 1
        total += next(moved)
    return doubled(x), total, list(moved)


@program(inputs=ASKED)
def read_by_a_mapped_lambda(x, wanted):
    step, total = 1, 0
    moved = map(lambda one: one + step, (2, 3, 5))
    if wanted:
        step += 1
        for one in moved:
            total += one
    return doubled(x), total


@program(inputs=ASKED)
def read_by_a_generator_function(x, wanted):
    step, total = 1, 0

    def made():
        for one in (2, 3, 5):
            yield one + step

    moved = made()
    if wanted:
        step += 1
        total += sum(moved)
    return doubled(x), total


@program(inputs=ASKED)
def read_by_an_iterator_in_an_attribute(x, wanted):
    step, total, box = 1, 0, types.SimpleNamespace()
    box.moved = (one + step for one in (2, 3, 5))
    if wanted:
        step += 1
        total += next(box.moved)
    return doubled(x), total, list(box.moved)


@program(inputs=ASKED)
def read_by_a_function_that_a_function_has_made(x, wanted):
    step, total = 1, 0

    def maker():
        return lambda: step * 10

    told = maker()
    if wanted:
        step += 1
        total += told()
    return doubled(x), total, told()


@program(inputs=SIGNS, refused="a branch or loop advances an iterator from around it")
def read_by_a_generator_in_a_branch_on_data(x):
    step = 1
    moved = (one + step for one in (2, 3, 5))
    if x.sum() > 0:
        step = 2
        x = x * sum(moved)
    return x


ROWS = [lambda: (vec(1, -2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(1, 2, -3),)]
level = 0.0


class Held:
    """Runs a function of the program's where the text shows no call of it."""

    def __init__(self, fn):
        self.fn = fn

    def __mul__(self, other):
        return self.fn() * other

    def __getitem__(self, index):
        return self.fn()

    def __setitem__(self, index, value):
        self.fn()

    def __contains__(self, other):
        return self.fn() > other

    def __bool__(self):
        return self.fn() > 2

    def __float__(self):
        return float(self.fn())

    def __enter__(self):
        self.seen = self.fn()
        return self

    def __exit__(self, *error):
        self.seen = self.seen + self.fn()

    @property
    def now(self):
        return self.fn()

    def get(self):
        return self.fn()

    def add(self, value):
        return self.fn()


@program(inputs=ROWS)
def rebound_by_a_function_before_a_break(x):
    t = x.new_zeros(())

    def note(v):
        nonlocal t
        t = t + v

    for v in x:
        note(v)
        if t > 2:
            break
        t = t * 2
    return t


@program(inputs=ROWS)
def read_by_a_function_before_a_break(x):
    n, out = x.new_zeros(()), 0.0
    get = lambda: n * 2  # noqa: E731
    for v in x:
        out = out + get()
        if v < 0:
            break
        n = n + v
    return out


@program(inputs=ROWS)
def rebound_before_an_inner_loop_that_returns(x):
    t = x.new_zeros(())

    def note(v):
        nonlocal t
        t = t + v

    for v in x:
        note(v)
        for w in x:
            if w > 2:
                return t
            t = t + 1
        t = t * 2
    return t


@program(inputs=ROWS)
def rebound_in_a_while_that_breaks(x):
    s, n = x.abs().sum(), 1

    def tick():
        nonlocal n
        n = n + 1

    while s > 1:
        tick()
        if s < 3:
            break
        n = n * 2
        s = s / 2
    return s, n


@program(inputs=ROWS)
def rebound_in_the_test_of_a_while(x):
    s, n = x.abs().sum(), 0

    def go():
        nonlocal n
        n = n + 1
        return s > 1

    while go() and n < 4:
        s = s / 2
    return s, n


@program(inputs=ROWS)
def read_in_the_test_of_a_while(x):
    s, n = x.abs().sum(), 0

    def go():
        nonlocal n
        n = n + 1
        return s > 1

    while go():
        s = s / 2
    return s, n


@program(inputs=ROWS)
def variable_of_the_module_in_a_loop_that_breaks(x):
    global level
    level = 0.0
    for v in x:
        level = level + v
        if v < 0:
            break
        level = level * 2
    found = level
    level = 0.0
    return found


@program(inputs=SIGNS)
def read_by_an_operator(x):
    k, y = 1.0, x
    held = Held(lambda: k)
    if x.sum() > 0:
        k = 3.0
        y = held * x
    return y


@program(inputs=SIGNS)
def read_by_a_property_an_element_and_truth(x):
    k, y = 1.0, []
    held = Held(lambda: k)
    if x.sum() > 0:
        k = 3.0
        y = [held.now, held[0], 2 in held, float(held), 1 if held else 0]
    return y


@program(inputs=SIGNS)
def read_by_a_with(x):
    k, y = 1.0, 0.0
    held = Held(lambda: k)
    if x.sum() > 0:
        k = 3.0
        with held:
            k = 4.0
        y = held.seen
    return y


@program(inputs=SIGNS)
def read_by_a_key_in_a_dict(x):
    sign = 1.0
    items, keys = [3.0, 1.0, 2.0], {"k": lambda one: one * sign}
    if x.sum() > 0:
        sign = -1.0
        items.sort(key=keys["k"])
    return items


@program(inputs=SIGNS)
def read_by_a_method_named_like_that_of_a_dict(x):
    k, y, out = 0, x.abs().sum(), 0.0
    held = Held(lambda: k * 2.0)
    while y > 0.5:
        k = k + 1
        out = out + held.get()
        y = y / 2
    return k, out


@program(inputs=SIGNS)
def rebound_by_a_method_named_like_that_of_a_tensor(x):
    n = 1

    def bump():
        nonlocal n
        n += 1

    held = Held(bump)
    if x.sum() > 0:
        held.add(x)
        n = n * 10
        held[0] = x
    return n


@program(inputs=ROWS, refused="what is kept reads a variable that is written to later")
def lambdas_that_are_kept_under_a_test(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(lambda: v * 2)  # noqa: B023
    return [one() for one in kept]


@program(inputs=ROWS, refused="what is kept reads a variable that is written to later")
def functions_that_are_kept_under_a_test(x):
    kept = []
    for v in x:
        w = v + 1
        if v > 0:

            def doubled():
                return w * 2  # noqa: B023

            kept.append(doubled)
    return [one() for one in kept]


@program(inputs=ROWS, refused="AG206")
def lambdas_with_a_name_that_are_kept_under_a_test(x):
    kept = {}
    for v in x:
        if v > 0:
            doubled = lambda: v * 2  # noqa: B023, E731
            kept["last"] = doubled
    return [one() for one in kept.values()]


@program(inputs=[lambda: (vec(1, 2), True), lambda: (vec(1, 2), False)])
def handed_to_map_under_another_name(x, flag):
    k = 2
    scale = lambda v: v * k  # noqa: E731
    chosen = scale
    scaled = [0]
    if flag:
        k = 5
        scaled = list(map(chosen, [1, 2]))
    return x, scaled


class TensorLog:
    """Its name has the word in it."""

    def __init__(self):
        self.hooks = []

    def record(self, value):
        for hook in self.hooks:
            hook(value)


@program(inputs=[lambda: (vec(1, 2), TensorLog(), True), lambda: (vec(1, 2), TensorLog(), False)])
def annotated_with_a_class_of_its_own(x, log: TensorLog, flag):
    n, seen = 0, []
    log.hooks = [lambda v: seen.append(n)]
    if flag:
        n = 3
        log.record(2)
    return x, seen


class Meter:
    """Its methods have names of a tensor's."""

    def __init__(self):
        self.hooks = []

    def sum(self):
        for hook in self.hooks:
            hook(1)
        return self

    def __add__(self, value):
        for hook in self.hooks:
            hook(value)
        return value


@program(inputs=[lambda: (vec(1, 2), Meter(), True), lambda: (vec(1, 2), Meter(), False)])
def methods_with_names_of_a_tensors(x, meter, flag):
    n, seen = 0, []
    meter.hooks = [lambda v: seen.append((n, v))]
    if flag:
        n = 5
        meter.sum()
    for k in (1, 2):
        if flag:
            n = k
            meter + k
    return x, seen


class Ranked:
    """Asks a function when it is compared or shown."""

    def __init__(self, ask):
        self.ask = ask

    def __lt__(self, other):
        self.ask()
        return False

    def __str__(self):
        return str(self.ask())


@program(inputs=[lambda: (vec(1, 2), True), lambda: (vec(1, 2), False)], refused="by keys of several types")
def objects_in_a_list_that_is_sorted(x, flag):
    n, seen = 0, []
    rows = [Ranked(lambda: seen.append(n)), Ranked(lambda: seen.append(-n))]
    if flag:
        n = 5
        rows.sort()
    return x, seen


@program(inputs=[lambda: (vec(1, 2), True), lambda: (vec(1, 2), False)], refused="cannot become part of one graph")
def objects_in_a_tuple_that_is_shown(x, flag):
    rate, text = 0.1, ""
    shown = (Ranked(lambda: rate),)
    if flag:
        rate = 0.5
        text = "%s" % shown  # noqa: UP031 (what is tested)
    return x, text
