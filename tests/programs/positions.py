"""Elements of lists and tuples, where data tell which: functions that are called, tensors and numbers."""

import torch

from tests.harness import ints, program, vec

STEPS = (torch.sin, lambda x: x * 2, torch.neg)


@program(inputs=[lambda: (vec(1, 2), ints(0, 1)), lambda: (vec(1, 2), ints(2, 0)), lambda: (vec(3, 2), ints(-2, -1))])
def functions_in_the_order_of_data(x, order):
    factors = [1.0, 2.0, 3.0]
    for k in (order * 1).tolist():
        if (x[0] * factors[k]).sum() > 1:
            x = STEPS[k](x) + factors[k]
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 0.5),)], grad=True)
def layer_by_its_score(x):
    layers = [lambda y, by=1.0: y * by, lambda y, by=1.0: y + by]
    return layers[x.argmax()](x, by=x[0]).sum()


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(3, 2),)])
def element_that_is_written_to(x):
    rows = [x * 1, x * 2]
    row = rows[x.argmax()]
    row.add_(5)
    return rows[0] + 0, rows[1] + 0, row


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(3, 2),), lambda: (vec(-4, -9),)])
def position_out_of_range(x):
    return (x, x * 2)[int(x.sum()) - 3] + 1


@program(inputs=[lambda: (vec(1, 3, 2),), lambda: (vec(4, 3, 2),), lambda: (vec(1, 2, 5),)])
def name_of_the_largest(x):
    classes = ["cat", "dog", "cow"]
    k = int(x.argmax())
    label = classes[k]
    print(f"a {label}")
    return label.upper(), x[k]


@program(inputs=[lambda: (vec(1, 3),), lambda: (vec(4, 3),)])
def names_in_the_middle_of_expressions(x):
    first = {"score": x.max().item(), "name": ("left", "right")[x.argmax().item()]}
    return first, [x.sum(), ("left", "right")[int(x.argmin())]]


@program(inputs=[lambda: (vec(0, 3),), lambda: (vec(7, 3),), lambda: (vec(2, 3),)])
def entry_of_a_dict(x):
    names = {0: "zero", 7: None}
    name = names[int(x[0])]
    if name is None:
        return x * 2
    return x + len(name)


@program(inputs=[lambda: (vec(0, 1, 1, 0), ints(1, 0)), lambda: (vec(0, 1, 1, 1), ints(0, 0))])
def elements_of_several_types_in_a_loop(x, order):
    scales = [None, 2.0]
    for k in (order * 1).tolist():
        scale = scales[k]
        if scale is not None:
            x = x * scale
        else:
            x = x - 1
    return x


@program(inputs=[lambda: (vec(0, 3),), lambda: (vec(2, 3),)])
def weights_by_number(x):
    weights = {0: torch.ones(2), 2: torch.zeros(2)}
    return weights[int(x[0])] + x


@program(inputs=[lambda: (vec(11, 3),), lambda: (vec(0, 3),)], refused="a list of more than eight names")
def many_names(x):
    names = [chr(97 + k) for k in range(12)]
    name = names[int(x[0])]
    print(name)
    return x


@program(inputs=[lambda: (ints(0, 2, 2),), lambda: (ints(1, 1, -1),), lambda: (ints(0, 3, 1),)])
def counts_by_class(labels):
    counts = [0, 0, 0]
    try:
        for k in (labels + 0).tolist():
            counts[k] += 1
    except IndexError:
        print("no such class", counts)
    return counts


@program(inputs=[lambda: (vec(1, 3, 2),), lambda: (vec(4, -1, 2),), lambda: (vec(-1, -2, -5),)])
def ring_buffer(x):
    buffer, place = [None, None], 0
    for v in x:
        if v > 0:
            buffer[place] = v * 2
            place = (place + 1) % 2
    return [kept for kept in buffer if kept is not None], place


class Experts:
    def __init__(self):
        self.used = {0: 0, 1: 0}
        self.last = [torch.zeros(2), torch.zeros(2)]


@program(inputs=[lambda: (vec(1, 3), Experts()), lambda: (vec(4, 3), Experts())])
def places_in_attributes(x, experts):
    k = int(x.argmax())
    experts.used[k] += 2
    experts.last[k] += x
    experts.last[k - 1] = x * 2
    return experts.used[0] + len(experts.last)


@program(inputs=[lambda: (vec(1, -3),), lambda: (vec(-4, -3),), lambda: (vec(4, 3),)])
def confusion_matrix(x):
    predicted, labels = (x > 0).long().tolist(), [1, 0]
    table = [[0, 0], [0, 0]]
    for a, b in zip(predicted, labels):
        table[a][b] += 1
    return table


@program(inputs=[lambda: (vec(1, 3),), lambda: (vec(4, 3),)])
def element_of_an_element(x):
    rows = [x * 1, x * 2]
    k = int(x.argmax())
    rows[k][0] = 9
    rows[0][k] = 7
    return rows


@program(inputs=[lambda: (ints(5),), lambda: (ints(1),)], refused="more than four rows")
def many_rows(k):
    table = [[0, 0] for _ in range(6)]
    table[k.item()][k.item() % 2] += 1
    return table


@program(inputs=[lambda: (vec(*range(10)),), lambda: (vec(*range(10, 0, -1)),)], refused="one of ten is written to")
def best_of_many_is_written_to(x):
    rows = [x[k] * torch.ones(2) for k in range(10)]
    best = max(rows, key=lambda row: row.sum())
    best += 1
    return rows[0] + rows[9], best


LETTERS = "ACGT"
PLACES = [lambda: (ints(0, 3, 1),), lambda: (ints(2, -1, 0),), lambda: (ints(-3, 0, 2),), lambda: (ints(1, 1, 9),)]


@program(inputs=PLACES)
def letters_of_a_string(places):
    first = LETTERS[places[0]]
    letter = "abca"[places[1]] if places[0] > 0 else "?"
    return first, first == "A", letter == "a", {"A": 1, "C": 2, "G": 3, "T": 4}[first], LETTERS[-int(places[1])].lower()


@program(inputs=PLACES)
def letters_in_a_loop(places):
    letter, k = "", 0
    while k < 3 and places[k] >= 0:
        letter = "abcdefghijklmnopqrstuvwxyz"[places[k]]
        k += 1
    return letter, k


@program(inputs=PLACES)
def letter_that_is_not_there(places):
    try:
        found = "abcd"[places[2]]
    except IndexError as error:
        found = str(error)
    print(found)
    return LETTERS[places[2]]
