"""Lists and dicts that are written to right before a loop is left."""

import torch

from tests.harness import program, vec

FIVE = [
    lambda: (vec(1, 2, 3),),
    lambda: (vec(0.1, 0.2, 0.3),),
    lambda: (vec(0.1, -0.2, 5),),
    lambda: (vec(100, -200, 5),),
    lambda: (vec(0, -2, 5),),
]


@program(inputs=FIVE)
def reason_of_the_end(x):
    info, n = {"status": "max"}, 0
    while n < 10:
        if x.abs().sum() < 1:
            info["status"] = "small"
            break
        if x.abs().sum() > 100:
            info["status"] = "large"
            info["at"] = n
            break
        x = x / 2
        n += 1
    return info, x


@program(inputs=FIVE)
def value_of_the_last_trip(x):
    out = {"done": False}
    for i in range(12):
        y = x * i
        if y.sum() > 40:
            largest = y.max()
            out["done"] = True
            out["at"] = largest
            break
    return out


@program(inputs=FIVE)
def history_and_reason(x):
    history, info, n = [], {}, 0
    while n < 6:
        history.append(x.sum())
        if x.abs().sum() < 1:
            history.append(x.sum() * 0)
            info["why"] = "small"
            break
        x = x / 2
        n += 1
    else:
        info["why"] = "end"
    return history, info, n


@program(inputs=FIVE)
def printed_on_the_way_out(x):
    found = {}
    while x.sum() < 100:
        x = x * 2 + 1
        if x.max() > 20:
            if x.min() > 0:
                found["positive"] = x
                break
            else:
                found["negative"] = x.min()
                print("left", x.min() < 0)
                break
    return found


@program(inputs=FIVE)
def returned_out_of_the_loop(x):
    info, n = {}, 0
    while n < 10:
        if x.abs().sum() < 1:
            info["small"] = x
            return info, n
        x = x / 2
        n += 1
    return info, n


@program(inputs=FIVE, grad=True)
def gradient_of_what_is_kept(x):
    kept, n = {}, 0
    while n < 4:
        y = x * (n + 1)
        if y.sum() > 8:
            kept["y"] = y * 2
            break
        n += 1
    return torch.stack([value.sum() for value in kept.values()]).sum() if kept else x.sum()
