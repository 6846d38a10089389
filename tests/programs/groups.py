"""Lists in dicts, under keys that depend on the path: the function groups what it sees."""

from collections import defaultdict

import torch

from tests.harness import by_torch, program, vec

BOTH = [lambda: (vec(1, 2),), lambda: (vec(-4, 6),), lambda: (vec(4, -6),)]


@program(inputs=BOTH)
def rows_by_their_sign(x):
    groups = defaultdict(list)
    for e in x:
        if e > 0:
            groups["positive"].append(e)
        else:
            groups["negative"].append(e)
    return groups


@program(inputs=BOTH)
def groups_that_are_read(x):
    groups = defaultdict(list)
    for e in x:
        key = "positive" if e > 0 else "negative"
        groups[key].append(e)
    return {key: torch.stack(rows) for key, rows in groups.items()}, len(groups["positive"])


@program(inputs=BOTH)
def indices_by_setdefault(x):
    groups = {}
    for i, e in enumerate(x):
        groups.setdefault("positive" if e > 0 else "negative", []).append(i)
    return groups


@program(inputs=BOTH)
def setdefault_under_two_tests(x):
    groups = {}
    if x.sum() > 0:
        groups.setdefault("large", []).append(x)
    if x.max() > 3:
        groups.setdefault("large", []).append(x + 1)
    groups.setdefault("all", []).append(x)
    return groups


@program(inputs=BOTH)
def key_of_the_path(x):
    groups = defaultdict(list)
    key = "positive" if x.sum() > 0 else "negative"
    groups[key].append(x)
    return groups, len(groups)


@program(inputs=BOTH)
def tuples_in_groups(x):
    groups = defaultdict(list)
    for i, e in enumerate(x):
        if e > 0:
            groups["positive"].append((i, e))
    return groups, sorted(groups)


@program(inputs=BOTH)
def groups_that_are_there_before(x):
    groups = {"positive": [], "negative": []}
    for e in x:
        groups["positive" if e > 0 else "negative"].append(e)
    return groups


@program(inputs=BOTH)
def grouped_tensor_is_written_afterwards(x):
    groups = defaultdict(list)
    y = x * 2
    if x.sum() > 0:
        groups["a"].append(y)
        if x.max() > 3:
            groups["a"].append(y)
            groups["b"].append(x)
        y.add_(1)
    else:
        groups["b"].append(y)
        y.mul_(3)
    return groups, y


@program(inputs=BOTH, grad=True, refused=by_torch("2.11", "a branch makes a missing item of a defaultdict"))
def gradients_of_groups(x):
    groups = defaultdict(list)
    if x.sum() > 0:
        groups["large"].append(x * 2)
        if x.max() > 3:
            groups["large"].append((x * 3, 1))
    return groups


@program(inputs=BOTH)
def list_with_two_places(x):
    rows = []
    groups = {"a": rows}
    if x.sum() > 0:
        rows.append(x)
        if x.max() > 1.5:
            groups["a"].append(x + 1)
    return groups, len(rows)
