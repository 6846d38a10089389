"""Lists and dicts that branches and loops write to where their text does not show it, and lists inside of others."""

from __future__ import annotations

from collections import Counter, defaultdict, deque

import torch
from torch import nn

from tests.harness import by_torch, integer, program, vec

INPUTS = [lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(0.1, -0.2, 0.3),)]


def bump(d, k):
    d[k] = d[k] + 1


@program(inputs=INPUTS)
def a_helper_counts_in_a_loop(x):
    d = {"a": 0, "b": 1}
    while x.norm() > 1:
        x = x / 2
        bump(d, "a")
    return d, x


@program(inputs=INPUTS)
def a_local_function_writes_to_a_list_in_a_loop(x):
    best = [x, 0]

    def note(v):
        best[0] = v * 2
        best[1] += 1

    while x.norm() > 1:
        x = x / 2
        note(x)
    return best[0] * 1, best[1], x


@program(inputs=INPUTS)
def a_helper_appends_in_a_branch(x):
    zs = []

    def add(v):
        zs.append(v)

    if x.sum() > 0:
        add(x * 1)
    else:
        add(x * 2)
    return torch.stack(zs).sum(0)


@program(inputs=INPUTS)
def a_helper_turns_a_dict_in_a_branch(x):
    d = {"a": [x * 1], "b": [x * 2]}
    row = d["a"]
    if x.sum() > 0:
        d["a"], d["b"] = d["b"], d["a"]
    row[0] = row[0] + 1
    return row, d


@program(inputs=INPUTS)
def lists_in_a_dict_by_setdefault(x):
    d = {}
    for k in range(3):
        if x[k] > 0:
            d.setdefault("p", []).append(x[k] * 1)
        else:
            d.setdefault("p", []).append(-x[k])
    return d


class Scheduler:
    def __init__(self):
        self.history = [1.0, 2.0]
        self.state = {"n": 0, "rate": 1.0}

    def step(self, v):
        self.state["n"] += 1
        self.history[0] = self.history[1]
        self.history[1] = float(self.state["n"])
        if v > 3:
            self.state["rate"] = self.state["rate"] * 0.5


SCHEDULERS = [lambda: (Scheduler(), vec(1, 2, 3)), lambda: (Scheduler(), vec(0.1, 0.2, 0.3))]


@program(inputs=SCHEDULERS)
def a_method_writes_to_containers_in_a_loop(scheduler, x):
    while x.norm() > 1:
        scheduler.step(x.norm())
        x = x * (1 - scheduler.state["rate"] * 0.25)
    return x


@program(inputs=SCHEDULERS)
def a_method_writes_to_containers_under_an_if_in_a_loop(scheduler, x):
    while x.norm() > 1:
        if x[0] > 0.5:
            scheduler.step(x.norm())
        x = x * 0.5
    scheduler.step(x[0])
    return x, scheduler.state["n"]


class MemoryBank(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank = [torch.zeros(3), torch.zeros(3)]
        self.position = 0
        self.register_buffer("pushed", torch.zeros(()))

    def push(self, x):
        self.bank[self.position] = x
        self.position = (self.position + 1) % 2
        self.pushed += 1

    def forward(self, x):
        if x.sum() > 0:
            self.push(x * 2)
        return sum(self.bank) + self.pushed


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(3, 2)
        self.experts = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        self.usage = [0, 0]

    def use(self, k, x):
        self.usage[k] += 1
        return self.experts[k](x)

    def forward(self, x):
        g = self.gate(x)
        if g[0] > g[1]:
            return self.use(0, x)
        return self.use(1, x)


program(inputs=INPUTS)(MemoryBank)
program(inputs=INPUTS, grad=True)(Experts)


@program(inputs=INPUTS)
def an_inner_list_is_replaced_in_a_branch(x):
    d = {"a": [x * 1], "b": [x * 2]}
    row = d["a"]
    if x.sum() > 0:
        d["a"] = [x * 3]
    row[0] = row[0] + 1
    return row, d


@program(inputs=INPUTS)
def an_inner_list_is_replaced_in_a_loop(x):
    d = {"a": [x * 1, x * 2]}
    row = d["a"]
    while x.norm() > 1:
        x = x / 2
        d["a"] = [x * 1, d["a"][0]]
    return row, d


@program(inputs=INPUTS)
def an_inner_list_is_replaced_in_a_loop_and_written_afterwards(x):
    d = {"a": [x * 1, x * 2]}
    row = d["a"]
    while x.norm() > 1:
        x = x / 2
        d["a"] = [x * 1, d["a"][0]]
    row[0] = x * 7
    return row, d


@program(inputs=INPUTS, refused="AG206: what was written before the list was replaced is lost")
def an_inner_list_is_written_and_replaced_in_a_loop(x):
    d = {"a": [x * 1, x * 2]}
    row = d["a"]
    while x.norm() > 1:
        x = x / 2
        d["a"][0] = x * 5
        d["a"] = [x * 1, d["a"][0]]
    return row, d


@program(inputs=INPUTS, refused="AG206: lists change places")
def inner_lists_change_places_in_a_loop(x):
    d = {"a": [x * 1], "b": [x * 2]}
    row = d["a"]
    while x.norm() > 1:
        x = x / 2
        d["a"], d["b"] = d["b"], d["a"]
    return row, d


@program(inputs=INPUTS, refused="AG206: a name that the loop rebinds leads to the list that it writes to")
def a_name_comes_to_lead_to_a_list_in_a_loop(x):
    xs = [x * 1, x * 2]
    current = [x * 3, x * 4]
    while x.norm() > 1:
        x = x / 2
        xs[0] = current[0] + 1
        current = xs
    return current[0], xs[0]


@program(inputs=INPUTS)
def two_names_of_numbers_in_a_loop(x):
    xs = [x.sum().item(), 2.0]
    ys = xs
    while x.norm() > 1:
        x = x / 2
        xs[0] = ys[1] * 2
        xs[1] = ys[0] + 1.5
    return ys


@program(inputs=INPUTS)
def lists_in_a_tuple_in_a_loop(x):
    pair = ([x * 1], [x * 2])
    while x.norm() > 1:
        x = x / 2
        pair[0][0] = pair[1][0] + x
        pair[1][0] = pair[0][0] * 0.5
    return pair


@program(inputs=INPUTS)
def written_behind_a_loop_that_returns(x):
    xs = [x * 1, x * 2]
    for i in range(3):
        if x[i] < -1:
            return xs
        xs[0] = xs[0] + x[i]
    xs[1] = xs[0] * 3
    return xs


@program(inputs=INPUTS)
def the_test_of_a_loop_writes_to_a_list(x):
    log = [0]

    def check(v):
        log[0] += 1
        return v.norm() > 1

    while check(x):
        x = x / 2
    return log, x


def put_first(xs, v):
    xs[0] = v


@program(inputs=INPUTS)
def a_helper_writes_to_a_list_that_the_loop_rebinds(x):
    xs = [x * 1, x * 2]
    while x.norm() > 1:
        x = x / 2
        put_first(xs, x)
        xs = [xs[1], xs[0]]
    return xs


@program(inputs=INPUTS, refused="AG206: the first trip writes to the list that `old` names")
def a_helper_writes_to_a_list_of_two_names_that_the_loop_rebinds(x):
    xs = [x * 1, x * 2]
    old = xs
    while x.norm() > 1:
        x = x / 2
        put_first(xs, x)
        xs = [xs[1], xs[0]]
    return xs, old


class Box:
    def __init__(self, v):
        self.v = v


@program(inputs=INPUTS, refused="AG206: the first trip writes to the object that `first` names")
def an_object_is_written_to_and_replaced_in_a_loop(x):
    box = Box(x * 1)
    first = box
    while x.norm() > 1:
        x = x / 2
        box.v = box.v + x
        box = Box(box.v * 2)
    return box.v, first.v


@program(inputs=INPUTS)
def a_tensor_is_written_to_and_replaced_in_a_loop(x):
    y = torch.zeros(3)
    z = y
    while x.norm() > 1:
        y.add_(x)
        y = y * 1.5
        x = x / 2
    return y, z


@program(inputs=INPUTS, grad=True)
def gradients_of_a_tensor_that_is_written_to_and_replaced(x):
    y = x * 0.5
    while x.norm() > 1:
        y.add_(x)
        y = y * x
        x = x / 2
    return y


@program(inputs=INPUTS, refused="AG314: `last` is `y`, which the next trip writes to")
def another_name_of_a_tensor_that_is_written_to_and_replaced(x):
    y = torch.zeros(3)
    last = torch.ones(3)
    while x.norm() > 1:
        y.add_(x)
        y = y * 1.5
        last = y
        x = x / 2
    return y, last * 1


@program(inputs=INPUTS)
def a_sum_in_a_dict_grows_in_place(x):
    totals = {"loss": torch.zeros(()), "n": 0}
    while x.norm() > 1:
        x = x / 2
        totals["loss"] += x.sum()
        if x[0] > 0.2:
            totals["loss"] = totals["loss"] * 0
        totals["n"] += 1
    return totals


@program(inputs=INPUTS)
def a_sum_grows_in_place_in_two_loops(x):
    total = torch.zeros(3)
    while x.norm() > 1:
        h = x * 1
        while h.norm() > 0.5:
            total += h
            h = h / 2
            total = total * 0.9
        x = x / 2
    return total


@program(inputs=INPUTS)
def a_deque_in_a_loop(x):
    window = deque([x * 0, x * 0, x * 0], maxlen=3)
    while x.norm() > 1:
        window.append(x)
        x = x / 2
    return torch.stack(list(window))


class Window(nn.Module):
    def __init__(self):
        super().__init__()
        self.window = deque([torch.zeros(3)] * 2, maxlen=2)

    def forward(self, x):
        if x[0] > 0.5:
            self.window.append(x * 2)
        return sum(self.window)


program(inputs=INPUTS)(Window)


@program(inputs=INPUTS)
def lists_in_a_defaultdict(x):
    found = defaultdict(list)
    for k in range(3):
        if x[k] > 0:
            found["v"].append(x[k] * 1)
        else:
            found["v"].append(x[k] * 2)
    return torch.stack(found["v"])


@program(inputs=INPUTS)
def counts_in_a_counter(x):
    counts = Counter({"positive": 0, "negative": 0})
    for k in range(3):
        if x[k] > 0:
            counts["positive"] += 1
        else:
            counts["negative"] += 1
    return counts["positive"], counts["negative"]


@program(inputs=INPUTS)
def numbers_in_a_grid(x):
    grid = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            if x[i] > x[j + 1]:
                grid[i][j] = 1.0
            else:
                grid[i][j] = -1.0
    return grid


class Holder:
    def __init__(self, items):
        self.items = items


@program(inputs=INPUTS)
def a_list_of_an_object_is_replaced_in_a_loop_and_written_afterwards(x):
    holder = Holder([x * 0])
    old = holder.items
    while x.norm() > 1:
        x = x / 2
        holder.items = [x * 1]
    holder.items[0] = x * 9
    return old[0] * 1, holder.items[0] * 1


@program(inputs=INPUTS)
def a_list_in_a_dict_that_a_loop_replaces_is_written_afterwards(x):
    d = {"a": [x * 1]}
    old = d["a"]
    while x.norm() > 1:
        x = x / 2
        d = {"a": [x * 1]}
    d["a"][0] = x * 9
    return old[0] * 1, d["a"][0] * 1


@program(inputs=INPUTS)
def a_name_leads_to_a_list_in_a_dict_that_only_a_branch_uses(x):
    d = {"a": [x * 1]}
    old = d["a"]
    if x.sum() > 0:
        d["a"][0] = x * 9
        y = d["a"][0] + 1
    else:
        y = x * 1
    return old[0] * 1, y


@program(
    inputs=[lambda: (vec(1, 2, 3), integer(20)), lambda: (vec(0.1, 0.2, 0.3), integer(20))],
    refused="AG314: whether `old` is the list that is written to depends on data",
)
def a_list_that_some_trips_replace_is_written_afterwards(x, n):
    xs = [x * 1]
    old = xs
    for _ in range(n):
        if x.norm() > 1:
            xs = [x * 2]
        x = x / 2
    xs[0] = x * 9
    return old[0] * 1, xs[0] * 1


@program(inputs=INPUTS)
def a_list_is_returned_by_a_loop_and_written_behind_it(x):
    xs = [x * 1, x * 2]
    while x.norm() > 1:
        x = x * 0.7
        if x[0] < -0.5:
            return xs, x
        xs[0] = xs[0] + x
    xs[1] = xs[0] * 3
    return xs, x


@program(inputs=INPUTS)
def a_dict_is_written_before_and_behind_a_break(x):
    d = {"k": x.sum() * 1, "n": 0}
    s = x.norm()
    while True:
        d["k"] += 1
        if s > 2:
            break
        s = s * 2 + 1
        d["n"] += 1
        d["k"] = d["k"] * 2
    return d, s


def _push(values, value):
    values.append(value)


@program(inputs=INPUTS)
def a_list_of_floats_of_data_is_sorted_in_a_branch(x):
    vs = x.tolist()
    if x.sum() > 0:
        vs.sort(reverse=True)
    return vs


@program(inputs=INPUTS)
def a_helper_appends_to_a_list_of_floats_of_data(x):
    vs, ws = x.tolist(), [v.item() for v in x]
    if x.sum() > 0:
        _push(vs, 1.0)
    else:
        _push(ws, vs[0])
    return vs, ws


@program(inputs=INPUTS, refused=by_torch("2.11", "`+=` of a list is no method of its variable, which would be watched"))
def another_name_of_a_list_of_floats_of_data_that_grows(x):
    vs = x.tolist()
    ws = vs
    if x.sum() > 0:
        vs += [2.0]
    return vs, ws, vs is ws


@program(inputs=INPUTS)
def rows_of_floats_of_data_are_written_to(x):
    rows = torch.stack([x, x * 2]).tolist()
    for row in rows:
        if x.sum() > 0:
            row += [0.5]
        else:
            row.reverse()
    return rows


@program(inputs=INPUTS)
def a_list_of_floats_of_data_is_written_to_in_a_loop(x):
    vs = x.tolist()
    while x.norm() > 1:
        x = x * 0.7
        vs[0] += 1.0
        vs.reverse()
    return vs, x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 2),), lambda: (vec(-1, -2),)])
def views_and_methods_that_are_kept(x):
    """They see what the branches write, and write themselves."""
    table, found = {"a": 1}, []
    values, keys, items, read = table.values(), table.keys(), table.items(), table.get
    add, put = found.append, table.update
    if x.sum() > 0:
        table["b"] = 2
        add("more")
    elif x[1] > 0:
        put(c=3)
    else:
        del table["a"]
        table["a"] = 4
        add("again")
    return list(values), list(keys), dict(items), len(keys), "b" in keys, read("c"), found


@program(
    inputs=[lambda: (vec(1, 2, 3), nested()), lambda: (vec(-1, -2, -3), nested()), lambda: (vec(0, 0, 0), nested())]
)
def a_list_in_a_dict_behind_a_loop_that_returns(x, e):
    for k in range(2):
        if (x > 0.1 + k).any():
            return k
    if x[0] < 0:
        e["rows"][0] = x * 2
    return x


def nested():
    return {"rows": [vec(1, 2, 3)], "n": 0}
