"""if / elif / else: what they assign, and what may stand as the predicate."""

import torch

from tests.harness import call, flags, integer, ints, program, randn, scalar, vec


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, 3),), lambda: (vec(0, 0, 0),)])
def doubled_or_halved(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x / 2
    return y


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(0.5, 0.5),), lambda: (vec(-0.5, 0),), lambda: (vec(-7, -7),)])
def elif_chain_of_bins(x):
    mean = x.mean()
    if mean > 1:
        label = torch.tensor(3)
    elif mean > 0:
        label = torch.tensor(2)
    elif mean > -1:
        label = torch.tensor(1)
    else:
        label = torch.tensor(0)
    return label, mean


@program(inputs=[lambda: (vec(3, 4), vec(1, 1)), lambda: (vec(3, 4), vec(-1, -1)), lambda: (vec(-3, -4), vec(9, 9))])
def branch_in_branch(x, y):
    if x.sum() > 0:
        z = x + y
        if y.sum() > 0:
            z = z * 10
        else:
            z = z - 10
    else:
        z = x - y
    return z


@program(inputs=[lambda: (vec(30, 40),), lambda: (vec(0.3, 0.4),), lambda: (vec(0, 0),)])
def rescale_without_else(gradient):
    norm = gradient.norm()
    if norm > 1.0:
        gradient = gradient / norm
    return gradient


@program(inputs=[lambda: (randn(6),), lambda: (randn(6) * 1e-9,), lambda: (vec(2, 2, 2, 2, 2, 2),)])
def statistics_assigned_in_both(x):
    if x.std() > 1e-6:
        mean = x.mean()
        scale = x.std()
        shifted = True
    else:
        mean = torch.zeros(())
        scale = torch.ones(())
        shifted = True
    return (x - mean) / scale, shifted


@program(inputs=[lambda: (vec(5, 1), vec(2, 2)), lambda: (vec(1, 1), vec(2, 2))])
def swap_so_that_larger_is_first(a, b):
    if a.sum() < b.sum():
        a, b = b, a
    return a - b, a


@program(inputs=[lambda: (vec(1, 2, 3, 4),), lambda: (vec(-1, 2, 3, 4),)])
def starred_target(x):
    first, *rest = x.unbind()
    if first > 0:
        head, *tail = rest
    else:
        *tail, head = rest
    return head, torch.stack(tail)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def scratch_name_on_one_side(x):
    if x.sum() > 0:
        scratch = x * 3
        shifted = scratch + 1
        y = shifted.relu()
    else:
        y = -x
    return y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def scratch_of_different_shapes(x):
    if x.sum() > 0:
        tmp = torch.outer(x, x)
        y = tmp.sum()
    else:
        tmp = x.min()
        y = tmp * 2
    return y


@program(inputs=[lambda: (vec(1, 2), scalar(0.0)), lambda: (vec(1, 2), scalar(-3.5)), lambda: (vec(1, 2), scalar(1))])
def float_tensor_as_predicate(x, scale):
    if scale:
        x = x / scale
    return x


@program(inputs=[lambda: (ints(0, 0, 0),), lambda: (ints(0, 4, 0),)])
def integer_tensor_as_predicate(counts):
    total = counts.sum()
    if total:
        return counts / total
    return counts.float()


@program(inputs=[lambda: (vec(1, 2), flags(True)), lambda: (vec(1, 2), flags(False))])
def vector_of_one_element_as_predicate(x, enabled):
    if enabled:
        x = x.exp()
    else:
        x = x.neg()
    return x


@program(inputs=[lambda: (vec(1, 2), torch.tensor([[0.0]])), lambda: (vec(1, 2), torch.tensor([[2.0]]))])
def matrix_of_one_element_as_predicate(x, gate):
    if gate:
        x = x * gate[0]
    return x + 1


@program(inputs=[lambda: (vec(0.1, 0.2),), lambda: (vec(10, 20),)])
def item_as_predicate(x):
    peak = x.max().item()
    if peak > 1.0:
        return x / peak
    return x


@program(inputs=[lambda: (vec(1, 2, 3), flags(1, 1, 0)), lambda: (vec(1, 2, 3), flags(0, 0, 0))])
def item_count_as_predicate(x, mask):
    valid = mask.sum().item()
    if valid == 0:
        loss = torch.zeros(())
    else:
        loss = (x * mask).sum() / valid
    return loss


@program(inputs=[lambda: (vec(1, 0, 3, 4),), lambda: (vec(0, 0, 0, 1),), lambda: (vec(0, 0, 0, 0),)])
def length_of_nonzero_as_predicate(x):
    if len(x.nonzero()) > 2:
        return x.sum()
    return x.max() * 0.5


@program(inputs=[lambda: (vec(1, -2, 3),), lambda: (vec(-1, -2, -3),)])
def numel_of_masked_select_as_predicate(x):
    positive = x[x > 0]
    if positive.numel() == 0:
        return x.new_zeros(())
    return positive.mean()


@program(inputs=[lambda: (vec(1, 2), flags(1, 1)), lambda: (vec(1, 2), flags(1, 0))])
def bool_cast_as_predicate(x, mask):
    if bool(mask.all()):
        return x.sum()
    return (x * mask).sum()


@program(inputs=[lambda: (vec(1, float("nan")),), lambda: (vec(1, float("inf")),), lambda: (vec(1, 2),)])
def nan_and_inf_checks(x):
    if torch.isnan(x).any():
        x = torch.nan_to_num(x, nan=0.0)
    elif torch.isinf(x).any():
        x = x.clamp(-100.0, 100.0)
    return x * 2


@program(inputs=[lambda: call(vec(1, 2), mode="double"), lambda: call(vec(1, 2), mode="other"), lambda: (vec(1, 2),)])
def plain_python_predicates(x, mode=None):
    if mode is None:
        return x
    if mode == "double" and x.dim() == 1:
        x = x * 2
    elif isinstance(mode, str):
        x = x + len(mode)
    return x


@program(
    inputs=[
        lambda: (vec(1, 2), True),
        lambda: (vec(-1, -2), True),
        lambda: (vec(1, 2), False),
        lambda: (vec(-1, -2), False),
    ]
)
def python_predicate_around_tensor_predicate(x, training):
    if training:
        if x.mean() > 0:
            x = x - x.mean()
        x = x * 2
    else:
        x = x + 1
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-3, 1),)])
def branch_that_only_passes(x):
    if (x > 0).all():
        pass
    else:
        x = x.abs()
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def branch_without_any_effect(x):
    y = x * 2
    if x.sum() > 0:
        pass
    return y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def dict_literal_in_each_branch(x):
    if x.sum() > 0:
        out = {"value": x, "loss": x.sum()}
    else:
        out = {"value": -x, "loss": x.sum() * 0}
    return out


@program(
    refused="the order of the keys differs between the branches", inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]
)
def keys_of_a_dict_in_another_order(x):
    if x.sum() > 0:
        out = {"a": x, "b": x + 1}
    else:
        out = {"b": x - 1, "a": x}
    return out["a"] * 2 + out["b"]


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def annotated_names_in_a_branch(x: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor
    if x.sum() > 0:
        y: torch.Tensor = x.sqrt()
    else:
        scale: float = 0.5
        y = x * scale
    return y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -4),)])
def no_grad_block_in_a_branch(x):
    if x.sum() > 0:
        with torch.no_grad():
            scale = x.max()
    else:
        scale = x.min()
    return x * scale


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def branch_in_a_try_block(x):
    try:
        if x.sum() > 0:
            y = x + 1
        else:
            y = x - 1
    finally:
        z = x * 2
    return y + z


@program(inputs=[lambda: (vec(3, 1),), lambda: (vec(1, 3),)])
def name_deleted_in_a_branch(x):
    if x[0] > x[1]:
        tmp = x * 2
        y = tmp + 1
        del tmp
    else:
        y = x
    return y


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)])
def one_predicate_used_three_times(x):
    positive = x.mean() > 0
    if positive:
        x = x + 1
    y = x * 2
    if positive:
        y = y - x
    if not positive:
        y = y + 100
    return y, positive


@program(inputs=[lambda: (vec(1, 2, 3, 4),), lambda: (vec(-1, -2, -3, -4),)])
def prefix_or_whole(x):
    if x.sum() > 0:
        y = x[:2]
    else:
        y = x
    return y * 2


@program(inputs=[lambda: (vec(2, 3), integer(5)), lambda: (vec(2, 3), integer(-5)), lambda: (vec(2, 3), integer(0))])
def sign_as_python_string(x, n):
    if n > 0:
        word = "plus"
    elif n < 0:
        word = "plus"
    else:
        word = "plus"
    return x * n, word


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 2, -3),), lambda: (vec(1, 0, -3),)])
def identity_argument_in_one_branch(x):
    y = x
    if x[0] > 0:
        y = x
        if x[1] == 0:
            y = x.flip(0)
    else:
        y = x.abs()
    return y + x


@program(inputs=[lambda: (randn(3, 3),), lambda: (torch.eye(3),), lambda: (torch.zeros(3, 3),)])
def transposed_or_straight(m):
    if torch.allclose(m, m.T):
        out = m
    else:
        out = m.T
    return out @ m


@program(inputs=[lambda: (vec(1, 2), "relu"), lambda: (vec(-1, -2), "relu"), lambda: (vec(-1, -2), "tanh")])
def match_on_a_string_around_a_branch(x, activation):
    match activation:
        case "relu":
            if x.sum() > 0:
                x = x * 2
            return x.relu()
        case "tanh":
            return x.tanh()
        case _:
            return x


@program(inputs=[lambda: (vec(4, 5),), lambda: (vec(-4, 5),), lambda: (vec(-4, -5),), lambda: (vec(4, -5),)])
def two_branches_in_sequence(x):
    a, b = x[0], x[1]
    if a > 0:
        b = b + a
    if b > 0:
        a = a * b
    else:
        a = a - b
    return a, b


@program(inputs=[lambda: (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),), lambda: (-torch.ones(2, 2),)])
def matrix_beside_its_transpose(x):
    square = x @ x
    if square.sum() > 3:
        return torch.isclose(square, square.mT).all(-1) & (square.T > 0).all(-1)
    return torch.zeros(2, dtype=torch.bool)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def tensor_filled_with_a_tensor(x):
    if x.sum() > 0:
        return x.new_full((2, 2), x.max())
    return x.new_full((2, 2), -1.0)


@program(inputs=[lambda: (vec(1, 2, 0),), lambda: (vec(0, 0, 0),)])
def two_branches_of_one_size_from_data(x):
    nonzero = x[x != 0]
    first = nonzero * 2 if x.sum() > 0 else torch.zeros_like(nonzero)
    second = nonzero + 1 if x.max() > 1 else torch.ones_like(nonzero)
    return torch.trapz(torch.cat([x, first]), torch.cat([x, second]))


@program(inputs=[lambda: (vec(1, 2, 2),), lambda: (vec(1, 2, 3),)])
def number_of_values_in_a_message(x):
    count = len(torch.unique(x))
    if count > 2:
        raise ValueError(f"found {count} values")
    return x


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)])
def views_at_different_places(x):
    first, part = x[0], x[:2]
    if x.sum() > 0:
        first, part = x[1], x[1:3]
    return first, part


def checked(x, y):
    ok = torch.allclose(x, y)
    if not ok:
        reason = f"sum {x.sum().item()}"
    else:
        reason = None
    return ok, reason


@program(inputs=[lambda: (vec(1, 2), vec(1, 2)), lambda: (vec(1, 2), vec(1, 3))])
def text_of_data_that_nobody_reads(x, y, explain=False):
    ok, reason = checked(x, y)
    if explain:
        return ok, reason
    return ok


@program(
    refused="a string of data is a result",
    inputs=[lambda: (vec(1, 2), vec(1, 2)), lambda: (vec(1, 2), vec(1, 3))],
)
def text_of_data_as_a_result(x, y):
    return checked(x, y)


NAMED = [lambda: (vec(1, 2),), lambda: (vec(-4, 6),), lambda: (vec(4, -6),)]


@program(inputs=NAMED, grad=True)
def sorted_on_either_side(x):
    if x.sum() > 0:
        order = x.sort()
    else:
        order = (x * 2).sort(descending=True)
    return order.values * 2, order


@program(inputs=NAMED)
def results_with_names(x):
    largest = x.max(0)
    while largest.values < 20:
        x = x.abs() * 2 + 1
        largest = x.max(0)
    m = torch.outer(x, x) + torch.eye(2)
    parts = torch.linalg.qr(m) if x.sum() > 90 else torch.linalg.qr(m * 2)
    return largest, parts.Q @ parts.R, x.max(0) if x[0] > 5 else x.min(0)


@program(inputs=NAMED)
def sizes_in_a_list(x):
    sizes, kept = [x.shape], [x.sort()]
    if x.sum() > 0:
        sizes.append(x[:1].shape)
        kept.append(x.topk(1))
    return sizes, kept
