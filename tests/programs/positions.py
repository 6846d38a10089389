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
