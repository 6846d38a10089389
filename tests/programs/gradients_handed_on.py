"""Tensors that a branch or loop hands on under torch.no_grad(): they keep the gradient that they have from before."""

import torch
from torch import nn

from tests.harness import program, randn, vec

SIZES = [lambda: (vec(1, 3),), lambda: (vec(0.2, 0.3),), lambda: (vec(1, -1.5),), lambda: (vec(9, 2),)]


@program(grad=True, inputs=SIZES)
def scaled_when_it_is_long(x):
    w = x * 2
    with torch.no_grad():
        if w.norm() > 3:
            w = w / w.norm()
    return w * x


@program(grad=True, inputs=SIZES)
def halved_until_it_is_short(x):
    w = x * 2
    with torch.no_grad():
        while w.norm() > 3:
            w = w / 2
    return w * x


@program(grad=True, inputs=SIZES)
def best_of_several(x):
    w = x * 2
    with torch.no_grad():
        best = x
        for v in (w, w * 2, x * 3):
            if v.sum() > best.sum():
                best = v
    return best * x


@program(grad=True, inputs=SIZES)
def branch_in_a_loop_that_records(x):
    w, n = x * 2, 0
    while w.norm() > 3 and n < 4:
        n += 1
        with torch.no_grad():
            if w.norm() > 5:
                w = w / 2
    return w * x


@program(grad=True, inputs=SIZES)
def swapped(x):
    w = x * 2
    with torch.no_grad():
        if w.norm() > 3:
            w, v = w / 2, w
        else:
            v = x
    return w * x + v


@program(grad=True, inputs=SIZES)
def recorded_in_the_branch_alone(x):
    w = x * 2
    with torch.no_grad():
        if w.norm() > 3:
            with torch.enable_grad():
                w = w / 2
    return w * x


@program(grad=True, inputs=SIZES)
def conditional_expression_without_gradients(x):
    w = x * 2
    torch.set_grad_enabled(False)
    w = w / 2 if w.norm() > 3 else w
    torch.set_grad_enabled(True)
    return w * x


@program(grad=True, inputs=SIZES)
def in_a_dict(x):
    w = x * 2
    held = {"w": w, "v": w}
    with torch.no_grad():
        if w.norm() > 3:
            held["v"] = held["w"]
            held["w"] = w / 2
        else:
            held["w"] = x
    return held["w"] * x + held["v"] + w


@program(grad=True, inputs=SIZES)
def returned_from_the_block(x):
    w = x * 2
    with torch.no_grad():
        if w.sum() > 3:
            return w
        w = w + 1
    return w * x


@program(grad=True, inputs=SIZES)
def loop_under_a_branch(x):
    w = x * 2
    with torch.no_grad():
        if w.sum() > 0:
            while w.sum() > 10:
                if w[0] > 1:
                    w = w / 2
                else:
                    break
        else:
            w = x
    return w * x


@program(grad=True, inputs=SIZES)
def element_that_data_tell(x):
    several = [x, x * 2, x * 3]
    with torch.no_grad():
        w = several[int(x.argmax())]
    return w * x


@program(grad=True, inputs=SIZES)
def asked_for_its_gradient(x):
    w = x * 2
    with torch.no_grad():
        if w.norm() > 3:
            asked = w.requires_grad
        else:
            w = w / 2
            asked = w.requires_grad
    return w * x, asked


@program(grad=True, inputs=SIZES)
class WeightThatIsClipped(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(randn(2))

    def forward(self, x):
        with torch.no_grad():
            w = self.weight
            if x.sum() > 0:
                w = w.clamp(-0.5, 0.5)
        return w * x


@program(inputs=SIZES)
class WeightWithoutAnyGradients(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(randn(2))

    @torch.no_grad()
    def forward(self, x):
        w = self.weight
        if x.sum() > 0:
            w = w * 2
        while w.norm() > 1 and x[1] > 0:
            w = w / 2
        return (w * x).sum()


@program(grad=True, inputs=SIZES, refused="a tensor whose gradient is recorded, under torch.no_grad()")
def list_that_grows(x):
    w = x * 2
    rows = []
    with torch.no_grad():
        size = w.sum().abs()
        while size > 1:
            rows.append(w)
            size = size / 2
    return [row * x for row in rows], x * 1


@program(grad=True, inputs=SIZES)
def found_in_a_loop(x):
    w, n = x * 2, x.sum()
    with torch.no_grad():
        best = x
        while n > 1:
            if n < 5:
                best = w
            n = n / 2
    return best * x


@program(grad=True, inputs=SIZES, refused="in inference mode hands on a tensor whose gradient is recorded")
def kept_in_inference_mode(x):
    w = x * 2
    with torch.inference_mode():
        if w.norm() > 3:
            w = x
    return w + x


@program(grad=True, inputs=SIZES)
def in_inference_mode(x):
    w = x * 2
    with torch.inference_mode():
        if w.norm() > 3:
            w = w.detach()
            scale = w.sum()
        else:
            scale = w.max()
    return x * scale.clone()


@program(grad=True, inputs=SIZES, refused="the backward pass of the branch would draw other numbers")
def random_numbers_with_gradients_in_the_branch_alone(x):
    w = x * 2
    with torch.no_grad():
        if w.norm() > 3:
            with torch.enable_grad():
                w = w * torch.rand(2)
    return w * x


@program(grad=True, inputs=SIZES, refused="the backward pass of the loop would draw other numbers")
def random_numbers_with_gradients_in_the_loop_alone(x):
    w, n = x * 2, x.sum().abs()
    with torch.no_grad():
        while n > 1:
            n = n / 2
            with torch.enable_grad():
                w = w * torch.rand(2)
    return w * x


@program(grad=True, inputs=SIZES)
def recorded_in_the_loop_alone(x):
    w, n = x * 2, x.sum().abs()
    with torch.no_grad():
        while n > 1:
            n = n / 2
            with torch.enable_grad():
                w = w * 3
    return w * x


@program(grad=True, inputs=SIZES)
def carried_on_by_some_trips(x):
    w, n = x * 2, x.sum().abs()
    with torch.no_grad():
        while n > 1:
            n = n / 2
            if n > 4:
                w = w / 2
    return w * x


@program(grad=True, inputs=SIZES)
def random_numbers_without_gradients(x):
    w, n = x * 2, x.sum().abs()
    with torch.no_grad():
        if w.norm() > 3:
            w = w + torch.rand(2)
        while n > 1:
            n = n / 2
            w = w * torch.rand(2)
    return w * x
