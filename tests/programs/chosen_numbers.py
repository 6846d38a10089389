"""Numbers that a branch picks from constants, and that torch or Python itself has to know behind it."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.harness import program, vec

BOTH = [lambda: (vec(1, 2, 3, 4),), lambda: (vec(-4, -6, 1, 2),)]


@program(inputs=BOTH)
def key_of_a_dict(x):
    names = {0: "zero", 1: "one"}
    k = 1 if x.sum() > 0 else 0
    name = names[k]
    return x + len(name), name


@program(inputs=BOTH)
def index_into_names(x):
    names = ["negative", "positive"]
    k = 1 if x.sum() > 0 else 0
    return names[k], x


@program(inputs=BOTH)
def subject_of_a_match(x):
    k = 1 if x.sum() > 0 else 0
    match k:
        case 0:
            y = x + 1
        case 1:
            y = x * 2
        case _:
            y = x
    return y


@program(inputs=BOTH)
def part_of_a_key(x):
    k = 0
    if x.sum() > 0:
        k = 1
    parts = {"0": x, "1": x * 2, "l0": x + 3, "l1": x * 4}
    return parts[str(k)], parts[f"l{k}"], f"{k:02d}" == "01", k in {1, 2}


@program(inputs=BOTH, grad=True)
def dimension(x):
    k = 1 if x.sum() > 0 else 0
    y = x.reshape(2, 2)
    return y.sum(dim=k), torch.cat([y, y], dim=k)


@program(inputs=BOTH)
def number_of_chunks(x):
    k = 2
    if x.sum() > 0:
        k *= 2
    print("chunks", k)
    x[0] = 7
    chunks = x.chunk(k)
    chunks[0].add_(1)
    return chunks


@program(inputs=BOTH, grad=True, refused="elements that overlap")
def size_of_a_window(x):
    k = 3 if x.sum() > 0 else 1
    return F.avg_pool1d(x[None, None], k, stride=1), x.unfold(0, k, 1), x.repeat(k)


@program(inputs=BOTH)
def length_of_a_python_range(x):
    k = 2 if x.sum() > 0 else 3
    return [x * i for i in range(k)], "a" * k, (1, 2, 3, 4)[k:]


@program(inputs=BOTH)
def two_numbers(x):
    first = 1 if x.sum() > 0 else 2
    second = 3
    if x.max() > 3:
        second = 2
    return x.chunk(first), "abcd"[second]


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.k = 0

    def forward(self, x):
        if x.max() > 3:
            self.k = 0
        elif x.sum() > 0:
            self.k = 1
        else:
            self.k = 2
        depth = 3 if x.sum() > 0 else 1
        y = self.layers[self.k](x)
        for layer in self.layers[:depth]:
            y = layer(y).relu()
        return y


@program(inputs=[*BOTH, lambda: (vec(1, 2, 1, 1),)], factory=True, grad=True)
def layers_of_a_model():
    return Deep()


def mode_of(x):
    if x.max() > 3:
        return 2
    if x.sum() > 0:
        return 1
    return 0


@program(inputs=[*BOTH, lambda: (vec(1, 2, 1, 1),)])
def number_of_a_function(x):
    mode = mode_of(x)
    return ("low", "middle", "high")[mode], x * {0: 1.0, 1: 2.0, 2: 3.0}[mode]


@program(inputs=BOTH)
def flags_and_floats(x):
    negative, share = False, 0.0
    if x.sum() < 0:
        negative, share = True, 1.0
    name = {True: "negative", False: "positive"}[negative]
    return name, F.dropout(x, share, training=True), {0.0: "none", 1.0: "all"}[share]


@program(inputs=BOTH)
def last_name_that_passes(x):
    names = ["a", "b", "c", "d"]
    k = 0
    for i, e in enumerate(x):
        if e > 2:
            k = i
    return names[k], x


@program(inputs=BOTH)
def number_before_an_early_return(x):
    k = 2 if x.sum() > 0 else 4
    if x.max() > 3:
        return x.chunk(k)
    return x.chunk(k - 1)


@program(inputs=BOTH, refused="data give the number itself")
def number_of_data_or_a_constant(x):
    k = int(x[0].abs()) if x.sum() > 0 else 3
    return x.chunk(k)
