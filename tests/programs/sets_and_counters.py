"""Sets, counters and other containers that a function makes itself, filled on the paths that data take."""

import collections
from collections import Counter, OrderedDict, defaultdict

import torch

from tests.harness import ints, program, vec

BOTH = [lambda: (vec(1, 2),), lambda: (vec(4, 6),), lambda: (vec(-1, 0.5),)]


@program(inputs=BOTH)
def set_of_the_paths_taken(x):
    seen = set()
    if x.sum() > 2:
        seen.add("large")
    if x.min() < 0:
        seen.add("negative")
    return seen


@program(inputs=BOTH)
def length_of_such_a_set(x):
    seen = set()
    if x.sum() > 2:
        seen.add("large")
    return x * (len(seen) + 1)


@program(inputs=BOTH)
def member_of_such_a_set(x):
    seen = {"start"}
    if x.sum() > 2:
        seen.add("large")
    else:
        seen.discard("start")
    if "large" in seen:
        x = x * 2
    return x, "start" in seen


@program(inputs=BOTH)
def set_filled_in_a_python_range(x):
    seen = set()
    for k in range(3):
        if x.sum() > k * 3:
            seen.add(k)
    return sorted(seen), {"in": seen, "with": [x, (seen, "y")]}


@program(inputs=BOTH)
def members_in_their_order(x):
    seen = set()
    if x.sum() > 2:
        for k in (9, 3, 16, 8):
            seen.add(k)
    if x.min() < 0:
        seen.update([24, 1])
    return list(seen), [2 * k for k in seen], (*seen, x)


@program(inputs=BOTH)
def set_with_other_sets(x):
    seen = {"a", "b"}
    if x.sum() > 2:
        seen.update(["c", "d"])
        seen |= {"e"}
    else:
        seen -= {"a"}
    if x.min() < 0:
        seen.clear()
    return sorted(seen | {"z"}), "a" in seen, x * len(seen)


@program(inputs=BOTH)
def set_that_each_branch_makes(x):
    if x.sum() > 2:
        found = {1, 2}
    else:
        found = {True, 2}
    return found


@program(inputs=BOTH)
def set_and_counter_in_nested_branches(x):
    seen = set()
    counts = Counter()
    if x.sum() > 0:
        counts["positive"] += 1
        if x.max() > 3:
            seen.add("big")
            counts["big"] += 2
    elif x.min() < -0.5:
        seen.add("negative")
    return x * counts["positive"] + len(seen), sorted(seen), counts


@program(inputs=BOTH)
def set_before_an_early_return(x):
    seen = set()
    if x.sum() > 2:
        seen.add("large")
        if x.max() > 5:
            return seen, x
    return seen, x + 1


@program(inputs=BOTH)
def counter_in_a_loop_over_rows(x):
    counts = Counter()
    for e in x:
        if e > 0:
            counts["positive"] += 1
        else:
            counts["negative"] += 1
    return counts, counts["zero"], sum(counts.values())


@program(inputs=BOTH)
def counter_of_tensors(x):
    counts = collections.Counter()
    if x.sum() > 2:
        counts["a"] += x.sum()
    return counts


@program(inputs=BOTH)
def counter_read_behind_the_branch(x):
    counts = Counter(start=2)
    if x.sum() > 2:
        counts.update(["a", "start"])
    else:
        counts["b"] -= 1
    return x * counts["a"] + counts["b"], counts


@program(inputs=BOTH, grad=True)
def defaultdict_with_gradients(x):
    sums = defaultdict(float)
    seen = set()
    y = x * 2
    for k, e in enumerate(x):
        if e > 1:
            sums[k] += y[k] * e
            seen.add(k)
    return sum(sums.values()) + x.sum() * len(seen)


@program(inputs=BOTH)
def defaultdict_keeps_what_makes_its_items(x):
    counts = defaultdict(int)
    if x.sum() > 2:
        counts["positive"] += 1
    inner = defaultdict(dict)
    if x.min() < 0:
        inner["a"]["k"] = x
    return x + counts["other"], counts, {k: len(v) for k, v in inner.items()}, inner


@program(inputs=BOTH)
def defaultdict_of_a_lambda(x):
    counts = defaultdict(lambda: 1)
    if x.sum() > 2:
        counts["a"] += 1
    return x * counts["a"], dict(counts)


@program(inputs=BOTH)
def ordered_dict_of_the_paths_taken(x):
    parts = OrderedDict(first=1, second=2)
    if x.sum() > 2:
        parts.move_to_end("first")
        parts["third"] = x
    return list(parts), parts


@program(inputs=BOTH)
def list_and_dict_by_their_names(x):
    parts, rows = dict(a=1), list()  # noqa: C408
    named = dict(a=x)  # noqa: C408
    if x.sum() > 2:
        rows.append(x)
        named["b"] = x + 1
        parts["b"] = 2
    return named.get("b", x - 1), len(rows), parts


@program(inputs=BOTH)
def printed_as_what_they_are(x):
    counts = Counter()
    factors = defaultdict(list, a=[x])
    parts = OrderedDict(a=x.sum().item())
    if x.sum() > 2:
        counts["a"] += 1
        print(parts, factors, {"s"})
    print(counts, len(counts), f"{[parts]}")
    return x + counts["a"]


class Named(dict):
    def __repr__(self):
        return f"Named({list(self)})"


@program(inputs=BOTH, refused="what such a dict shows of itself is its own business")
def printed_dict_of_a_class(x):
    named = Named(a=x)
    if x.sum() > 2:
        print(named)
    return x


@program(inputs=BOTH, refused="two names lead to the set")
def set_by_another_name(x):
    seen = set()
    others = seen
    if x.sum() > 2:
        seen.add("large")
    return x + len(others), seen


@program(inputs=BOTH, refused="the number of trips depends on data")
def set_filled_in_a_loop_on_data(x):
    seen = set()
    while x.sum() < 10:
        seen.add("x")
        x = x.abs() + 1
    return x, seen


@program(inputs=BOTH)
def most_common_paths(x):
    counts = Counter()
    for e in x:
        counts["positive" if e > 0 else "negative"] += 1
    return counts.most_common(1)[0][0], counts.most_common(2), x * counts.most_common(1)[0][1]


@program(inputs=BOTH)
def index_that_a_conditional_expression_picks(x):
    last = {}
    for e in x:
        last["positive" if e > 0 else "negative"] = e * 2
    counts = Counter()
    counts["large" if x.sum() > 2 else "negative" if x.sum() < 0 else "small"] += 1
    return last, counts, counts["large"]


FOURS = [lambda: (vec(1, 2, -3, 4),), lambda: (vec(-1, 2, 3, 1),), lambda: (vec(4, 5, 6, 7),)]


@program(inputs=FOURS)
def counts_on_paths_that_meet_in_a_while(x):
    counts = {"up": 0, "down": 0}
    while x.sum() > 1:
        counts["up" if x[0] > 0 else "down"] += 1
        x = x - 1
        if x[1] < 0:
            break
    return counts


@program(inputs=FOURS)
def counts_on_paths_that_meet_in_a_with(x):
    counts = {"up": 0, "down": 0}
    with torch.no_grad():
        counts["up" if x[0] > 0 else "down"] += 1
        if x[1] > 4:
            return counts, 1
        counts["up" if x[2] > 0 else "down"] += 1
    counts["down"] += 10
    return counts, 2


@program(inputs=FOURS)
def counts_on_paths_that_meet_in_a_range(x):
    counts = {"up": 0, "down": 0}
    for k in range(int(x[0].abs())):
        counts["up" if x[k] > 0 else "down"] += 1
        if x[k] > 4:
            break
    return counts


@program(inputs=[lambda: (vec(1, 2, -3, 4, 5, 6),), lambda: (vec(-1, 2, 3, -3, 3, 3),)])
def counts_on_more_paths_than_are_followed(x):
    counts, trips = {"up": 0, "down": 0}, [0, 0]
    for v in x:
        counts["up" if v > 0 else "down"] += 1
        trips[0] += 1
        if v > 3:
            trips[1] += 2
    return counts, trips


NAMES = {0: "zero", 1: "one", 5: "five"}
IDS = [lambda: (ints(1, 2, 3),), lambda: (ints(5, 0, 7),), lambda: (ints(-1, 9, 9),)]


@program(inputs=IDS)
def known_and_unknown_ids(ids):
    known, skipped, seen = 0, 0, OrderedDict([(1, "a"), (7, "b")])
    for i in ids.tolist():
        if i in NAMES:
            known += 1
        elif i not in {7, 8}:
            skipped += 1
    return known, skipped, int(ids[0]) in seen, int(ids[2]) in seen.keys()  # noqa: SIM118


@program(inputs=IDS)
def numbers_among_members_of_several_types(ids):
    half, flag = ids[0].item() / 2, (ids[0] > 0).item()
    table = {True: 1, "a": 2, None: 3, (4,): 4}
    return half in {0.5, 2.5, 1}, half not in frozenset((0.5,)), flag in table, flag not in table, half in {}
