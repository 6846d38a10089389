"""Lists and dicts that branches and loops change: items, keys, append, pop, extend; nested ones; of the caller."""

from collections import OrderedDict
from dataclasses import dataclass, fields

import torch
from torch import nn

from tests.harness import integer, program, randn, scalar, vec

SIGNS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]


@program(inputs=SIGNS)
def item_set_in_both_branches(x):
    xs = [x, x + 1, x + 2]
    if x.sum() > 0:
        xs[0] = x * 10
    else:
        xs[-1] = x * 20
    return torch.stack(xs)


@program(inputs=SIGNS)
def numbers_in_a_list(x):
    counts = [0, 0]
    if x.sum() > 0:
        counts[0] += 1
    else:
        counts[1] += 2
    return counts


@program(inputs=[lambda: (vec(1, 2, -3, 4),), lambda: (vec(-1, -2, 3, -4),)])
def histogram_in_a_list(x):
    counts = [0, 0]
    for value in x:
        if value > 0:
            counts[0] += 1
        else:
            counts[1] += 1
    return counts


@program(inputs=[lambda: (vec(1, 2, -3, 4),), lambda: (vec(-1, -2, 3, -4),)])
def histogram_in_a_dict(x):
    counts = {"positive": 0, "negative": 0}
    for i in range(4):
        if x[i] > 0:
            counts["positive"] += 1
        else:
            counts["negative"] += 1
    return counts


@program(inputs=SIGNS)
def key_replaced(x):
    d = {"a": x, "b": x * 2}
    if x.sum() > 0:
        d["a"] = d["b"] + 1
    return d["a"] + d["b"]


@program(inputs=SIGNS)
def new_key_in_both_branches(x):
    d = {"x": x}
    if x.sum() > 0:
        d["y"] = x * 2
    else:
        d["y"] = x * 3
    return d


@program(inputs=SIGNS)
def several_new_keys(x):
    d = {}
    if x.sum() > 0:
        d["loss"] = x.sum()
        d["norm"] = x.norm()
    else:
        d["loss"] = -x.sum()
        d["norm"] = x.abs().max()
    return d


@program(inputs=SIGNS)
def update_with_keywords(x):
    d = {"a": x, "b": x}
    if x.sum() > 0:
        d.update(a=x * 2)
    else:
        d.update({"b": x * 3})
    return d


@program(inputs=SIGNS)
def setdefault_in_a_branch(x):
    d = {"a": x}
    if x.sum() > 0:
        d.setdefault("b", x * 2)
    else:
        d.setdefault("b", x * 5)
    return d


@program(inputs=SIGNS)
def append_on_both_sides(x):
    xs = [x]
    if x.sum() > 0:
        xs.append(x + 1)
    else:
        xs.append(x - 1)
    return xs[-1], len(xs)


@program(inputs=SIGNS)
def extend_on_both_sides(x):
    xs = []
    if x.sum() > 0:
        xs.extend([x, x * 2])
    else:
        xs.extend((x * 3, x * 4))
    return torch.cat(xs)


@program(inputs=SIGNS)
def augmented_list(x):
    xs = [x]
    if x.sum() > 0:
        xs += [x * 2]
    else:
        xs += [x * 3]
    return torch.stack(xs)


@program(inputs=SIGNS)
def pop_and_append(x):
    xs = [x, x * 2]
    if x.sum() > 0:
        last = xs.pop()
        xs.append(last + 1)
    return xs


@program(inputs=SIGNS)
def pop_on_both_sides(x):
    xs = [x, x * 2, x * 3]
    if x.sum() > 0:
        y = xs.pop()
    else:
        y = xs.pop(0)
    return y, xs


@program(inputs=SIGNS)
def insert_remove_reverse(x):
    xs = [x, x * 2]
    if x.sum() > 0:
        xs.insert(0, x * 9)
        xs.reverse()
    else:
        xs.append(x * 7)
    return torch.stack(xs)


@program(inputs=SIGNS)
def nested_list_item(x):
    grid = [[x, x * 2], [x * 3, x * 4]]
    if x.sum() > 0:
        grid[0][1] = x * 100
    else:
        grid[1][0] = x * 200
    return grid


@program(inputs=SIGNS)
def nested_append(x):
    groups = {"kept": [], "dropped": [x]}
    if x.sum() > 0:
        groups["kept"].append(x * 2)
    else:
        groups["kept"].append(x * 3)
    return groups


@program(inputs=SIGNS)
def dict_in_a_list(x):
    layers = [{"k": x}, {"k": x * 2}]
    if x.sum() > 0:
        layers[1]["k"] = x + 1
    return layers[0]["k"] + layers[1]["k"]


@program(inputs=SIGNS)
def nested_dict_written(x):
    state = {"opt": {"step": 0, "m": x * 0}}
    if x.sum() > 0:
        state["opt"]["step"] += 1
        state["opt"]["m"] = x * 0.1
    return state


@program(inputs=SIGNS)
def tensor_in_a_dict_written_in_place(x):
    state = {"sum": torch.zeros(2)}
    if x.sum() > 0:
        state["sum"] += x
    else:
        state["sum"].sub_(x)
    return state


@program(inputs=SIGNS)
def tensor_in_a_list_written_in_place(x):
    buffers = [torch.zeros(2), torch.ones(2)]
    kept = buffers[0]
    if x.sum() > 0:
        buffers[0].add_(x)
    else:
        buffers[1][0] = 5
    return kept, buffers[1]


@program(inputs=[lambda: (vec(1, 2), [vec(0, 0), vec(1, 1)]), lambda: (vec(-1, -2), [vec(0, 0), vec(1, 1)])])
def list_of_the_caller_item(x, slots):
    if x.sum() > 0:
        slots[1] = x
    return slots[0] + slots[1]


@program(inputs=[lambda: (vec(1, 2), []), lambda: (vec(-1, -2), [])])
def list_of_the_caller_appended(x, log):
    if x.sum() > 0:
        log.append(x)
    else:
        log.append(-x)
    return x


@program(inputs=[lambda: (vec(1, 2), {"step": 3}), lambda: (vec(-1, -2), {"step": 3})])
def dict_of_the_caller_counted(x, info):
    if x.sum() > 0:
        info["step"] += 1
    return x * info["step"]


@program(inputs=[lambda: (vec(1, 2), {"h": vec(0, 0)}), lambda: (vec(-1, -2), {"h": vec(0, 0)})])
def dict_of_the_caller_tensor(x, state):
    if x.sum() > 0:
        state["h"] = torch.tanh(state["h"] + x)
    return state["h"] * 2


@program(inputs=[lambda: (vec(1, 2), {"h": vec(0, 0)}), lambda: (vec(-1, -2), {"h": vec(0, 0)})])
def tensor_of_the_callers_dict_in_place(x, state):
    if x.sum() > 0:
        state["h"].add_(x)
    return x


@program(inputs=SIGNS)
def list_written_after_the_branch(x):
    xs = [x, x * 2]
    if x.sum() > 0:
        xs[0] = x * 3
    xs.append(x)
    xs[0] = xs[0] + 1
    return xs


@program(inputs=SIGNS)
def alias_of_a_list(x):
    xs = [x]
    ys = xs
    if x.sum() > 0:
        xs.append(x * 2)
    else:
        xs.append(x * 3)
    return ys, len(ys)


@program(inputs=SIGNS)
def untouched_elements_stay_themselves(x):
    xs = [x, x * 2]
    if x.sum() > 0:
        xs[1] = x * 3
    xs[0].add_(1)
    return xs[1]


@program(inputs=[lambda: (integer(3),), lambda: (integer(0),)])
def last_of_a_list_in_a_loop(n):
    xs = [torch.tensor(1.0)]
    for _ in range(n):
        xs[-1] = xs[-1] * 2
    return xs[-1]


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),)])
def dict_as_the_state_of_a_loop(x):
    state = {"x": x, "n": 0}
    while state["x"] > 1:
        state["x"] = state["x"] / 2
        state["n"] += 1
    return state["x"], state["n"]


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),)])
def list_as_the_state_of_a_loop(x):
    pair = [x, x * 0]
    while pair[0] > 1:
        pair[1] = pair[1] + pair[0]
        pair[0] = pair[0] / 2
    return pair


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 2, -3),)])
def list_of_fixed_length_grown_in_a_python_loop(x):
    xs = []
    for i in range(3):
        if x[i] > 0:
            xs.append(x[i] * 2)
        else:
            xs.append(x[i])
    return torch.stack(xs), len(xs)


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 2, -3),)])
def filtered_list(x):
    xs = []
    for i in range(3):
        if x[i] > 0:
            xs.append(x[i])
    return len(xs)


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),)])
def list_that_grows_in_a_while(x):
    xs = [x]
    while x > 1:
        x = x / 2
        xs.append(x)
    return torch.stack(xs)


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),)])
def last_of_a_list_that_grows(x):
    xs = [x]
    while x > 1:
        x = x / 2
        xs.append(x)
    return xs[-1]


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),)])
def length_of_a_list_that_grows(x):
    xs = []
    while x > 1:
        x = x / 2
        xs.append(x)
    return len(xs)


@program(inputs=[lambda: (integer(3), vec(1, 2)), lambda: (integer(0), vec(1, 2))])
def cat_of_a_list_that_grows(n, x):
    xs = [x]
    for i in range(n):
        xs.append(x * i)
    return torch.cat(xs)


@program(inputs=[lambda: (integer(3), vec(1, 2)), lambda: (integer(1), vec(1, 2))])
def iteration_over_a_list_that_grew(n, x):
    xs = []
    for i in range(n):
        xs.append(x * i)
    total = torch.zeros(2)
    for y in xs:
        total = total + y
    return total


@program(inputs=[lambda: (vec(5, 6),), lambda: (vec(0.1, 0.2),)])
def list_filled_until_break(x):
    xs = []
    for _ in range(3):
        xs.append(x)
        x = x / 2
    if xs[-1].sum() > 1:
        xs[-1] = xs[-1] * 0
    return torch.stack(xs)


@program(inputs=[lambda: (vec(5, 6),), lambda: (vec(0.1, 0.2),)])
def list_with_a_break(x):
    xs = []
    for _ in range(3):
        xs.append(x)
        if x.sum() < 1:
            break
        x = x / 4
    return xs[-1]


@program(inputs=SIGNS)
def tuple_rebuilt(x):
    pair = (x, x * 2)
    if x.sum() > 0:
        pair = (pair[1], pair[0])
    return pair


@program(inputs=SIGNS)
def tuple_unpacked_and_packed(x):
    state = (x, 0)
    if x.sum() > 0:
        h, n = state
        state = (h * 2, n + 1)
    return state


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),)])
def tuple_carried_by_a_loop(x):
    state = (x, torch.zeros(()), 0)
    while state[0] > 1:
        a, b, n = state
        state = (a / 2, b + a, n + 1)
    return state


@program(inputs=SIGNS)
def list_comprehension_in_a_branch(x):
    xs = [x, x + 1]
    if x.sum() > 0:
        xs = [y * 2 for y in xs]
    return torch.stack(xs)


@program(inputs=SIGNS)
def dict_comprehension_in_a_branch(x):
    d = {"a": x, "b": x + 1}
    if x.sum() > 0:
        d = {k: v * 2 for k, v in d.items()}
    return d


@program(inputs=SIGNS)
def items_loop_with_branches(x):
    d = {"a": x, "b": -x}
    for key, value in d.items():
        if value.sum() > 0:
            d[key] = value * 2
    return d


@program(inputs=SIGNS)
def del_of_a_key(x):
    d = {"a": x, "b": x * 2}
    if x.sum() > 0:
        y = d["b"]
        del d["b"]
    else:
        y = d.pop("b")
    return y, d


@program(inputs=SIGNS)
def set_of_names(x):
    seen = set()
    if x.sum() > 0:
        y = x
    else:
        y = -x
    seen.add("y")
    return y, seen


@program(inputs=SIGNS)
def caches_of_layers(x):
    caches = [(x, x), (x * 2, x * 2)]
    out = x
    for i in range(2):
        k, v = caches[i]
        if out.sum() > 0:
            k = k + out
            v = v - out
        caches[i] = (k, v)
        out = out + k * v
    return out, caches


@program(inputs=SIGNS)
class CacheInAModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {"h": torch.zeros(2)}

    def forward(self, x):
        if x.sum() > 0:
            self.cache["h"] = x * 2
        return self.cache["h"] + x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)])
class ListInAModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = [0, 0]

    def forward(self, x):
        if x.sum() > 0:
            self.seen[0] += 1
        else:
            self.seen[1] += 1
        return x * 2


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)])
def closed_over_dict():
    stats = {"n": 0, "last": torch.zeros(2)}

    def note(x):
        if x.sum() > 0:
            stats["n"] += 1
            stats["last"] = x * 2
        return x + stats["last"]

    return note


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def closed_over_list():
    log = []

    def note(x):
        if x.sum() > 0:
            log.append(x * 2)
        else:
            log.append(x * 3)
        return log[0]

    return note


@program(inputs=[lambda: (randn(3, 2),), lambda: (-randn(3, 2),)])
def beams_as_parallel_lists(scores):
    best = [torch.tensor(-100.0)] * 2
    where = [0, 0]
    for j in range(2):
        for i in range(3):
            if scores[i, j] > best[j]:
                best[j] = scores[i, j]
                where[j] = i
    return torch.stack(best), where


@program(inputs=SIGNS)
def slice_of_a_list_assigned(x):
    xs = [x, x, x]
    if x.sum() > 0:
        xs[1:] = [x * 2, x * 3]
    return torch.stack(xs)


@program(inputs=SIGNS)
def sorted_list_of_tensors(x):
    a, b = x[0], x[1]
    if a > b:
        a, b = b, a
    ordered = [a, b]
    if ordered[0] < 0:
        ordered[0] = ordered[0] * 0
    return torch.stack(ordered)


@program(inputs=SIGNS)
def list_chosen_in_a_branch(x):
    if x.sum() > 0:
        xs = [x, x * 2]
    else:
        xs = [x * 3, x * 4]
    xs.append(x)
    return torch.stack(xs)


@program(inputs=SIGNS)
def keys_in_another_order(x):
    d = {}
    if x.sum() > 0:
        d["a"] = x
        d["b"] = x * 2
    else:
        d["b"] = x * 3
        d["a"] = x * 4
    return d["a"] + d["b"]


@program(inputs=SIGNS)
def ordered_dict_of_a_branch(x):
    if x.sum() > 0:
        return OrderedDict(first=x, second=x * 2)
    return OrderedDict(first=-x, second=x * 3)


@program(inputs=SIGNS)
def size_of_a_branch(x):
    if x.sum() > 0:
        return x.shape
    return x.reshape(1, -1)[0].shape


class Stack(list):
    """A list that is not a list."""


@program(refused="a list of a class of its own", inputs=SIGNS)
def list_of_another_class(x):
    if x.sum() > 0:
        return Stack([x])
    return Stack([-x])


@dataclass
class Output(OrderedDict):
    """What models give: a dataclass that is a dict of its fields as well."""

    value: torch.Tensor
    other: torch.Tensor | None = None

    def __post_init__(self):
        for field in fields(self):
            if getattr(self, field.name) is not None:
                self[field.name] = getattr(self, field.name)


@program(inputs=SIGNS)
def output_of_a_model(x):
    if x.sum() > 0:
        return Output(value=x)
    return Output(value=-x)


@program(inputs=[lambda: (vec(3, 1, 2),), lambda: (vec(-3, -2, -1),)])
def views_swapped_in_a_list(x):
    xs = [x[0], x[1], x[2]]
    for i in range(2):
        for j in range(2 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return torch.stack(xs)


@program(inputs=[lambda: (randn(3, 4),), lambda: (randn(3, 4, seed=4),)])
def beams_of_views_with_a_break(logits):
    beams = [(torch.tensor(0.0), torch.zeros(3, dtype=torch.long))]
    for step in range(3):
        best, index = logits[step].log_softmax(-1).topk(2)
        found = []
        for score, tokens in beams:
            for j in range(2):
                longer = tokens.clone()
                longer[step] = index[j]
                found.append((score + best[j], longer))
        scores = torch.stack([score for score, _ in found])
        tokens = torch.stack([tokens for _, tokens in found])
        order = scores.argsort(descending=True)
        beams = [(scores[order[0]], tokens[order[0]]), (scores[order[1]], tokens[order[1]])]
        if beams[0][1][step] == 3:
            break
    return beams, step


LISTS = [lambda: (vec(8, 2, 3),), lambda: (vec(0.1, 0.2, 0.3),), lambda: (vec(-40, 1, 2),)]


@program(inputs=LISTS, grad=True)
def stack_of_a_list_behind_a_break(x):
    xs = [x]
    for _ in range(4):
        x = x / 2
        xs.append(x)
        if x.norm() < 1:
            break
    return torch.stack(xs).sum(0) / len(xs)


@program(inputs=LISTS)
def loop_over_a_list_behind_a_break(x):
    sums = []
    for _ in range(3):
        sums.append(x.sum())
        if sums[-1] > 10:
            continue
        if sums[-1] < 0:
            break
        x = x / 2
    total = torch.tensor(0.0)
    for value in sums:
        total = total + value
    return total, len(sums)


@program(inputs=LISTS)
def dict_with_other_keys_on_one_side(x):
    entries = {"a": x}
    if x.sum() > 0:
        entries["b"] = x * 2
        entries.pop("a")
    return sum(value.sum() for value in entries.values())


@program(inputs=LISTS)
def list_returned_behind_a_break(x):
    xs = []
    for _ in range(3):
        xs.append(x)
        if x.norm() < 1:
            break
        x = x / 2
    return xs


@program(inputs=LISTS)
def list_with_another_name_behind_a_break(x):
    xs = []
    same = xs
    for _ in range(3):
        xs.append(x)
        if x.norm() < 1:
            break
        x = x / 2
    return torch.stack(same)


@program(inputs=LISTS)
def two_names_of_a_list_written_in_a_branch(x):
    xs = [x, x]
    ys = xs
    if x.sum() > 0:
        xs[0] = x + 1
        ys[1] = x + 2
    return xs, ys


@program(inputs=LISTS)
def row_of_a_grid_written_in_a_branch(x):
    grid = [[x[0], x[1]], [x[2], x[0]]]
    row = grid[0]
    if x.sum() > 0:
        row[0] = x[0] + 1
        grid[0][1] = row[0] * 2
        grid[1][0] = row[1]
    return grid, row


@program(inputs=LISTS)
def row_of_a_grid_read_in_a_branch(x):
    grid = [[x[0], x[1]], [x[2], x[0]]]
    row = grid[0]
    if x.sum() > 0:
        grid[0][0] = x[0] + 5
        y = row[0] * 2
    else:
        y = row[1]
    return y


@program(inputs=LISTS)
def two_names_of_a_list_written_in_a_loop(x):
    xs = [x, x]
    ys = xs
    while xs[0].norm() > 1:
        xs[0] = xs[0] / 2
        ys[1] = ys[1] + 1
    return xs, ys


@program(inputs=LISTS)
def row_of_a_grid_in_a_loop(x):
    grid = [[x[0], x[1]], [x[2], x[0]]]
    row = grid[0]
    while row[0] > 1:
        row[0] = row[0] / 2
        grid[0][1] = grid[0][1] + row[0]
    return grid, row


@program(inputs=LISTS)
def another_name_of_a_dict_read_in_a_loop(x):
    entries = {"a": x}
    same = entries
    while same["a"].norm() > 1:
        entries["a"] = entries["a"] / 2
    return entries, same


class Account:
    """Leads to a list that others write to."""

    def __init__(self, items):
        self.items = items

    def total(self):
        return sum(self.items)


@program(inputs=SIGNS)
def an_attribute_leads_to_the_list(x):
    xs = [x, x * 2]
    account = Account(xs)
    if x.sum() > 0:
        xs[0] = x * 5
        y = account.total()
    else:
        y = x
    return y, account.total()


@program(inputs=SIGNS)
def a_closure_leads_to_the_list(x):
    xs = [x, x * 2]
    total = lambda: xs[0] + xs[1]  # noqa: E731
    if x.sum() > 0:
        xs[1] = x * 5
        if x.max() > 1:
            xs[0] = total()
            y = total() * 2
        else:
            y = total()
    else:
        y = x
    return y, total()


@program(inputs=SIGNS)
def a_container_leads_to_the_list(x):
    xs = [x, x * 2]
    both = {"inner": (xs, 1)}
    if x.sum() > 0:
        xs.append(x)
        xs.pop(0)
        y = both["inner"][0][1] * 3
    else:
        xs.pop()
        xs.append(x * 4)
        y = both["inner"][0][1]
    return y, both["inner"][0]


@program(inputs=[lambda: (vec(1, 2), integer(3)), lambda: (vec(1, 2), integer(0))])
def an_attribute_leads_to_the_list_of_a_loop(x, n):
    xs = [x * 1, x * 2]
    account = Account(xs)
    y = x
    while n > 0:
        xs[0] = xs[0] + 1
        y = y + account.total()
        n = n - 1
    return y, xs[0], account.total()


@program(inputs=[lambda: ({"a": vec(1, 2)}, integer(0)), lambda: ({"a": vec(1, 2)}, integer(3))])
def written_in_a_loop_that_goes_on_early(d, n):
    trip = 0
    while n > trip and not trip >= 3:
        trip = trip + 1
        d.update(a=d["a"] + 1)
        if d["a"].sum() > 5:
            continue
        d["a"] = d["a"] * 2
    d["a"] = d["a"] - 1
    return trip


@program(
    inputs=[lambda: ({"k": 2}, scalar(1.0), 2), lambda: ({"k": 2}, scalar(0.0), 2), lambda: ({"k": 0}, scalar(2.0), 2)]
)
def read_in_one_loop_and_written_in_the_next(d, s, k):
    step = torch.tensor(0)
    while True:
        if not (k > 1) or step >= 3:
            break
        step = step + 1
        k = d["k"]
    while True:
        if not (s > 0.37):
            break
        s = s - 1
        d["k"] += 2
    return s


@program(
    inputs=[lambda: (vec(1, 2, 3), vec(2, 1)), lambda: (vec(1, 2, 3), vec(0, 4)), lambda: (vec(1, 2, 3), vec(3, 3))]
)
def lists_of_sizes_and_of_a_tensor(x, n):
    k = n.max().long()
    y = torch.zeros(k, 3) + x
    assert list(y.size()) == [k, 3]
    return y, [x.shape[0]] == [k]


@program(inputs=[lambda: (vec(5),), lambda: (vec(-1),), lambda: (vec(1),)], refused="AG310")
def equal_keys_of_several_types(x):
    numbers = {2: x} if x > 1 else {2.0: x}
    zeros = {0.0: 1} if x > 0 else {-0.0: 1}
    pairs = {(1, "a"): x} if x > 0 else {(True, "a"): x}
    total = torch.tensor(7)
    for key in numbers:
        total = total * key
    return total, numbers, str(zeros), str(list(pairs))


@program(inputs=[lambda: (vec(5),), lambda: (vec(-1),), lambda: (vec(1),)])
def keys_that_are_no_texts(x):
    kept = {0.5: x, (1, "a"): 2, 3: x * 2, None: 1, True: x}
    if x > 0:
        kept[0.5] = kept[3] + 1
        kept[None] += 1
    else:
        kept[(1, "a")] = 7
    return kept
