"""return in any place: guards, elif chains, with blocks, nested, of tuples and dicts."""

from typing import NamedTuple

import torch

from tests.harness import ints, program, randn, scalar, vec


class Fit(NamedTuple):
    """What a fit returns."""

    slope: torch.Tensor
    error: torch.Tensor


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def guard_then_rest(x):
    if x.sum() < 0:
        return torch.zeros_like(x)
    y = x * 2
    z = y + x
    return z.sqrt()


@program(inputs=[lambda: (scalar(5),), lambda: (scalar(0.5),), lambda: (scalar(-0.5),), lambda: (scalar(-5),)])
def three_guards_in_a_row(x):
    if x > 1:
        return x - 1
    if x > 0:
        return x * 10
    if x > -1:
        return x * -10
    return x + 1


@program(inputs=[lambda: (scalar(5),), lambda: (scalar(0.5),), lambda: (scalar(-5),)])
def return_in_each_arm(x):
    if x > 1:
        return x.log()
    elif x > 0:
        return x
    else:
        return x.exp()


@program(inputs=[lambda: (scalar(5),), lambda: (scalar(0.5),), lambda: (scalar(-5),)])
def return_in_the_middle_arm_only(x):
    if x > 1:
        y = x.log()
    elif x > 0:
        return x * 100
    else:
        y = x.exp()
    return y + 1


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(1, -2),), lambda: (vec(-1, 2),)])
def return_two_levels_deep(x):
    y = x + 1
    if x[0] > 0:
        y = y * 2
        if x[1] > 0:
            return y
        y = y - 5
    return y / 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(1, -2),), lambda: (vec(-1, 2),), lambda: (vec(-1, -2),)])
def return_from_nested_arms_and_fall_through(x):
    if x[0] > 0:
        if x[1] > 0:
            return x
        else:
            x = -x
    else:
        if x[1] > 0:
            x = x * 3
        else:
            return x * 4
    return x + 100


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def return_of_a_tuple(x):
    if x.sum() > 0:
        return x, x.sum(), "ok"
    return -x, x.min(), "ok"


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def return_of_a_dict(x):
    if x.sum() > 0:
        return {"logits": x, "aux": [x * 2, None]}
    return {"logits": x * 0, "aux": [x, None]}


@program(inputs=[lambda: (vec(1, 2, 3), vec(2, 4, 6)), lambda: (vec(1, 1, 1), vec(2, 4, 6))])
def return_of_a_namedtuple(x, y):
    spread = ((x - x.mean()) ** 2).sum()
    if spread == 0:
        return Fit(torch.zeros(()), y.var())
    slope = ((x - x.mean()) * (y - y.mean())).sum() / spread
    return Fit(slope, (y - slope * x).var())


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def return_inside_a_with_block(x):
    with torch.no_grad():
        if x.sum() > 0:
            return x * 2
        y = x - 1
    return y + 0.5


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(-9, -9),)])
def with_block_in_the_arm_that_returns(x):
    if x.sum() > 0:
        with torch.no_grad():
            y = x * 2
            return y
    if x.sum() < -10:
        return x
    return x.abs()


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], refused="`finally` reads what a branch would bind")
def return_in_a_try_with_finally(x):
    try:
        if x.sum() > 0:
            return x * 2
        x = x + 1
    finally:
        torch.sigmoid(x)
    return x


@program(inputs=[lambda: (vec(1, 2), 0), lambda: (vec(-1, -2), 0), lambda: (vec(1, 2), 1), lambda: (vec(-1, -2), 1)])
def python_guard_after_a_tensor_guard(x, depth):
    if x.sum() < 0:
        return x * 0
    if depth > 0:
        return x * depth + 1
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(0.1, 2),)])
def statements_between_two_guards(x):
    if x.max() < 0:
        return x
    x = x / x.max()
    x = x * 3
    if x.min() > 1:
        return x - 1
    x = x + 0.25
    return x


@program(inputs=[lambda: (randn(4, 3), vec(1, 1, 1)), lambda: (randn(4, 3), vec(0, 0, 0))])
def validated_cosine_similarity(rows, query):
    length = query.norm()
    if length < 1e-8:
        return torch.zeros(rows.shape[0])
    return rows @ query / (rows.norm(dim=1) * length)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def return_none_in_both_arms(x):
    if x.sum() > 0:
        x = x + 1
        return None
    return None


@program(inputs=[lambda: (ints(3, 1, 2),), lambda: (ints(3, -1, 2),), lambda: (ints(),)])
def empty_check_then_tensor_check(tokens):
    if tokens.numel() == 0:
        return tokens
    if (tokens < 0).any():
        return tokens.clamp(min=0)
    return tokens.sort().values


@program(inputs=[lambda: (vec(2, 3),), lambda: (vec(-2, -3),), lambda: (vec(-2, 30),)])
def return_of_a_call_of_the_rest(x):
    def finish(value):
        if value.max() > 10:
            return value / value.max()
        return value

    if x.min() > 0:
        return finish(x.log())
    return finish(x)


@program(inputs=[lambda: (vec(2, 3),), lambda: (vec(-2, -3),)])
def constant_or_tensor_of_the_same_kind(x):
    if x.sum() > 0:
        return 1.5
    return 2.5


@program(inputs=[lambda: (vec(2, 3),), lambda: (vec(-2, -3),)])
def python_bool_returned(x):
    if x.sum() > 0:
        return True
    return False


@program(inputs=[lambda: (scalar(4), 3), lambda: (scalar(-4), 3), lambda: (scalar(4), 0)])
def unreachable_code_after_return(x, n):
    if n == 0:
        return x
    if x > 0:
        return x.sqrt() * n
    else:
        return x * n
    x = x / 0
    return x


@program(inputs=[lambda: (vec(3, 4),), lambda: (vec(-3, -4),), lambda: (vec(0.1, 0.2),)])
def return_in_the_else_of_a_loop(x):
    while x.norm() > 1:
        x = x / 2
    else:
        if x.max() > 0.3:
            return x, 1
        x = x * 3
    return x, 2


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2),)])
def loop_in_a_trip_that_reads_what_is_not_the_trips(x):
    y = x * 2
    for row in x:
        n = torch.tensor(0)
        while True:
            if not row > 0 or n >= 3:
                break
            n = n + 1
            seen = y
        if row + n > 4:
            return n, y
    return y, seen


FOUR_WAYS = [
    lambda a=a, b=b: (vec(1, 2), scalar(a), scalar(b), [vec(3, 4), vec(5, 6)]) for a in (1, -1) for b in (1, -1)
]


@program(inputs=FOUR_WAYS)
def list_written_to_behind_a_branch_that_returns(x, a, b, xs):
    if x.dim() == 1:
        if a > 0:
            if b > 0:
                return x, 1
        elif b > 0:
            xs[1] = x
        xs[1] = torch.ones(2)
    while x.dim() > 1:
        if a > 1:
            return x, 2
    return x, 3
