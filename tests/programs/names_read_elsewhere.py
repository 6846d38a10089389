"""Names that only some paths bind, read where no plain statement reads them (passes/undefined.py)."""

from tests.harness import program, vec

SIGNS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 0.5),)]
FLAGS = [lambda: (vec(1, 2), True), lambda: (vec(1, 2), False)]


@program(inputs=SIGNS)
def in_a_handler(x):
    try:
        if x.sum() > 2:
            y = x * 2
        {}["k"]
    except KeyError:
        return y


class Holds:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, *_):
        return False


@program(inputs=SIGNS)
def in_a_with(x):
    if x.sum() > 2:
        held = 1
    with Holds(held) as n:
        return x, n


@program(inputs=SIGNS)
def in_a_match(x):
    log = []
    if x.sum() > 2:
        kind = 1
    match kind:
        case 1:
            log.append("one")
        case _:
            log.append("other")
    return x, log


@program(inputs=FLAGS)
def in_a_case(x, flag):
    if flag:
        y = x * 2
    match x.ndim:
        case 1:
            return [y]
    return x


@program(inputs=SIGNS)
def in_a_lambda(x):
    if x.sum() > 2:
        y = x * 2
    read = lambda: y  # noqa: E731
    try:
        return read()
    except NameError as error:
        return x, str(error)


@program(inputs=FLAGS)
def in_a_function(x, flag):
    if flag:
        y = 1

    def read():
        return y

    return x, read()


@program(inputs=FLAGS)
def in_a_default(x, flag):
    if flag:
        k = 2
    try:

        def read(a=k):
            return a
    except NameError:
        return x, "default"
    return x, read()


@program(inputs=FLAGS)
def deleted_and_read_by_a_function(x, flag):
    y = x * 2

    def read():
        return y

    before = read()
    if flag:
        del y
    try:
        return before, read()
    except NameError as error:
        return before, str(error)


@program(inputs=[lambda: (vec(1, 2), [1, 2], 1), lambda: (vec(1, 2), [], 1), lambda: (vec(1, 2), [3], 1)])
def variable_of_a_loop_without_trips(x, ks, stop):
    for k in ks:
        if k == stop:
            break
    last = lambda: k  # noqa: E731
    try:
        return x, last()
    except NameError:
        return x, "empty"


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 2),), lambda: (vec(5, 6),), lambda: (vec(-1, 0),)])
def bound_before_a_handler_that_leaves_the_loop(x):
    for v in x:
        try:
            k = 1
            if v > 4:
                raise ValueError
        except ValueError:
            break
    return k


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 2),), lambda: (vec(5, 6),), lambda: (vec(0.1, 0),)])
def last_step_that_was_not_too_large(x):
    rate, steps = 1.0, 0
    while steps < 4:
        try:
            used = rate
            y = x * rate
            if y.max() > 4:
                raise OverflowError("too large")
            rate = rate * 2
            steps = steps + 1
        except OverflowError:
            break
    return y, used


@program(inputs=[lambda: (vec(1, 2), [1]), lambda: (vec(-1, -2), [1]), lambda: (vec(1, 2), [0] * 6)])
def one_of_two_targets(x, xs):
    a = 0
    try:
        if x.sum() > 2:
            a = xs[5] = 7
    except IndexError:
        pass
    return a


@program(inputs=[lambda: (vec(1, 2), [1.0]), lambda: (vec(1, 2), [])])
def in_the_arm_that_is_not_taken(x, xs):
    for v in xs:
        last = v * 2
    return x + last if xs else x


@program(inputs=[lambda: (vec(1, 2), []), lambda: (vec(4, 3), []), lambda: (vec(4, 3), [1.0])])
def in_an_arm_under_a_handler(x, xs):
    for v in xs:
        last = v * 2
    try:
        return last if x.sum() > 5 else x
    except UnboundLocalError:
        return x * 100
