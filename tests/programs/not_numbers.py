"""Floats from data that are NaN or infinite, where algebra would know the answer of a test."""

from tests.harness import ints, program, vec

NAN, INF = float("nan"), float("inf")
FLOATS = [lambda: (vec(1, 2, 3),), lambda: (vec(NAN, 1, 2),), lambda: (vec(INF, 1, 2),), lambda: (vec(-INF, 0, 0),)]


@program(inputs=FLOATS)
def a_number_that_is_not_itself(x):
    s = x.sum().item()
    if s != s:
        return x * 0
    return x


@program(inputs=FLOATS)
def numbers_that_are_themselves_are_counted(x):
    n = 0
    for v in x:
        f = float(v)
        if f != f:
            continue
        n += 1
    return n, all(v == v for v in x.tolist()), [v for v in x.tolist() if v == v]


@program(inputs=FLOATS)
def log_that_refuses_what_has_none(x):
    s = x.sum().item()
    if s <= 0 or s != s:
        raise ArithmeticError(f"log of {s!r}")
    return s


@program(inputs=FLOATS)
def a_difference_that_is_zero_for_finite_numbers(x):
    s = x.sum().item()
    assert s == s, "nan"
    assert s - s == 0, f"infinite: {s}"
    return x / s


@program(inputs=FLOATS)
def a_square_that_is_not_negative(x):
    s = x[0].item()
    if s * s >= 0:
        return x
    return -x


@program(inputs=FLOATS)
def numbers_that_cancel_out_in_a_branch(x):
    s = x[0].item()
    k, bad = 1.0, False
    if x[1] > 0:
        k = s * 0
        bad = s != s
    return k, bad, not bad, k == 0


@program(inputs=FLOATS)
def a_loop_that_ends_for_nan(x):
    s = abs(x[0].item())
    n = 1 if s >= 0 else 2
    while s == s and s > 1:
        s = s / 2 if s < INF else 0.0
        n += 1
    return n, s


LARGE = [lambda: (ints(2**53),), lambda: (ints(2**53 + 1),), lambda: (ints(-(2**53) - 1),), lambda: (ints(5),)]


@program(inputs=LARGE)
def an_integer_that_no_float_is(x):
    n = int(x[0])
    if n == float(n):
        return n, "exact"
    return n, "rounded"


@program(inputs=LARGE)
def integers_beside_their_floats(x):
    n = int(x[0])
    found = []
    for test in (n != float(n), float(n) <= n, n * 1.0 == n, float(n + 1) == n + 1, n < n + 0.5, n in [float(n)]):
        if test:
            found.append(1)
        else:
            found.append(0)
    return found, float(n) == n + 0.5, (n, 1) == (float(n), 1), float(n) >= 0
