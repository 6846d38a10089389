"""Gradients through writes in place, containers, attributes, loops of every kind, modes and transforms."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.harness import by_torch, integer, program, randn, scalar, vec

SIGNS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]
COUNTS = [lambda: (vec(0.5, 2), integer(3)), lambda: (vec(0.5, 2), integer(0)), lambda: (vec(0.5, 2), integer(1))]


@program(grad=True, inputs=SIGNS)
def write_into_a_clone(x):
    y = x.clone()
    if x.sum() > 0:
        y[0] = x[1] * 3
    else:
        y.mul_(x)
    return y


@program(grad=True, inputs=SIGNS)
def write_into_a_leaf_buffer(x):
    out = torch.zeros(2)
    if x.sum() > 0:
        out[0] = x.prod()
    else:
        out += x * 2
    return out * x


@program(grad=True, inputs=SIGNS)
def write_through_a_view(x):
    base = x * 1
    row = base[:1]
    if x.sum() > 0:
        row.mul_(5)
    return base * x


@program(grad=True, inputs=SIGNS)
def alias_read_after_the_write(x):
    y = x * 2
    z = y
    if x.sum() > 0:
        y.add_(x**2)
    return z.sum() + y.prod()


@program(grad=True, inputs=COUNTS)
def accumulation_in_place(x, n):
    total = torch.zeros(2)
    for i in range(n):
        total += x**2 * i
    return total


@program(grad=True, inputs=COUNTS)
def rows_written_in_a_loop(x, n):
    rows = torch.zeros(4, 2)
    k = 0
    while k < n:
        rows[k] = x * (k + 1)
        k += 1
    return rows


@program(grad=True, inputs=COUNTS)
def power_in_a_loop(x, n):
    y = torch.ones(2)
    for _ in range(n):
        y = y * x
    return y


@program(grad=True, inputs=COUNTS)
def two_carries_that_mix(x, n):
    a, b = x, torch.ones(2)
    for _ in range(n):
        a, b = a * 0.5 + b, a * b
    return a, b


@program(grad=True, inputs=[lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),)])
def while_with_a_counter(x):
    n = 0
    while x.norm() > 1:
        x = x * 0.6 + x.sin() * 0.1
        n += 1
    return x * n, n


@program(grad=True, inputs=[lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),)])
def branch_in_a_while(x):
    y = x
    while y.norm() > 1:
        if y[0] > 1:
            y = y * 0.5
        else:
            y = y.tanh() * x * 0.2
    return y


@program(grad=True, inputs=[lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),)])
def while_in_a_branch(x):
    if x.sum() > 1:
        y = x * 1
        while y.norm() > 1:
            y = y * 0.7
    else:
        y = x**2
    return y


@program(grad=True, inputs=COUNTS)
def loop_in_a_loop(x, n):
    y = x
    for i in range(n):
        for j in range(n):
            y = y * 0.9 + x * 0.1 * (i - j)
    return y


@program(grad=True, inputs=COUNTS)
def branch_after_a_loop(x, n):
    y = x
    for _ in range(n):
        y = y * x
    if y.sum() > 3:
        return y.log()
    return y.exp()


@program(grad=True, inputs=[lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),)])
def break_with_gradients(x):
    y = x
    for i in range(5):
        y = y * 0.5 + x * i
        if y.sum() > 8:
            break
    return y


@program(grad=True, inputs=SIGNS)
def return_out_of_a_loop(x):
    y = x
    for i in range(3):
        y = y * 2 + i
        if y.sum() > 10:
            return y * x
    return -y


@program(grad=True, inputs=SIGNS)
def list_of_results(x):
    xs = [x, x * 2]
    if x.sum() > 0:
        xs[1] = x.exp()
        xs.append(x**2)
    else:
        xs.append(x**3)
    return torch.stack(xs)


@program(grad=True, inputs=SIGNS)
def dict_of_results(x):
    d = {"a": x * 2}
    if x.sum() > 0:
        d["b"] = d["a"] * x
    else:
        d["b"] = x.sin()
    return d


@program(grad=True, inputs=SIGNS)
def none_or_bias(x):
    bias = None
    if x.sum() > 0:
        bias = x**2
    if bias is not None:
        return x + bias
    return x * 3


@program(grad=True, inputs=SIGNS)
def zero_or_penalty(x):
    penalty = 0.0
    if x.sum() > 0:
        penalty = (x**2).sum()
    return x.sum() + penalty


@program(grad=True, inputs=SIGNS)
def integers_and_flags_beside(x):
    if x.sum() > 0:
        y, i, m, n = x * 2, x.argmax(), x > 1, 3
    else:
        y, i, m, n = x**2, x.argmin(), x < -1, 4
    return y, i, m, n


@program(grad=True, inputs=SIGNS)
def detached_on_both_sides(x):
    if x.sum() > 0:
        y = x.detach() * 2
    else:
        y = x.detach()
    return y * x


@program(grad=True, inputs=SIGNS)
def no_grad_in_a_branch(x):
    if x.sum() > 0:
        with torch.no_grad():
            scale = x.norm()
        y = x * scale
    else:
        y = x
    return y


@program(grad=True, inputs=SIGNS)
def branch_in_no_grad(x):
    with torch.no_grad():
        if x.sum() > 0:
            scale = x.max()
        else:
            scale = x.min()
    return x * scale


@program(grad=True, inputs=[lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),)])
def loop_in_no_grad(x):
    with torch.no_grad():
        scale = x.sum()
        while scale > 1:
            scale = scale / 2
    return x * scale


@program(grad=True, inputs=SIGNS)
def straight_through_estimator(x):
    hard = (x > 0).float()
    if x.sum() > 0:
        y = hard + x - x.detach()
    else:
        y = x
    return y


@program(grad=True, inputs=SIGNS)
def stop_gradient_on_one_side(x):
    if x.sum() > 0:
        y = x.detach()
    else:
        y = x * 4
    return y + x


@program(grad=True, inputs=SIGNS)
def where_and_branch(x):
    y = torch.where(x > 1.5, x**2, x)
    if y.sum() > 0:
        y = torch.where(y > 3, y.sqrt(), y)
    return y


@program(grad=True, inputs=SIGNS)
def index_select_and_gather(x):
    i = x.argmax(keepdim=True)
    if x.sum() > 0:
        return x.index_select(0, i) * 2
    return x.gather(0, i) * 3


@program(grad=True, inputs=[lambda: (randn(3, 2),), lambda: (-randn(3, 2),)])
class ParametersInBothBranches(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        if x.sum() > 0:
            return self.a(x)
        return self.b(self.a(x))


@program(grad=True, inputs=[lambda: (randn(3, 2) * 3,), lambda: (randn(3, 2) * 0.01,)])
class ParameterInALoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(2, 2)

    def forward(self, x):
        h = torch.zeros(3, 2)
        while x.norm() > 1:
            h = torch.tanh(self.cell(x + h))
            x = x * 0.5
        return h


@program(grad=True, inputs=[lambda: (randn(3, 2) * 3,), lambda: (randn(3, 2) * 0.01,)])
class EmaBesideGradients(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("ema", torch.zeros(2))

    def forward(self, x):
        y = self.layer(x)
        if y.norm() > 1:
            self.ema.mul_(0.9).add_(y.detach().mean(0), alpha=0.1)
        return y - self.ema


@program(grad=True, inputs=[lambda: (randn(4, 3),), lambda: (randn(4, 3) - 5,)])
class BatchNormTraining(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        y = self.layer(x)
        if x.mean() > -1:
            y = self.norm(y)
        return F.relu(y)


@program(grad=True, inputs=[lambda: (randn(4, 3),), lambda: (randn(4, 3) - 5,)])
class InPlaceActivationTraining(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.layer(x)
        if x.mean() > -1:
            y = self.act(y)
        return y * 2


@program(grad=True, factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def closed_over_parameter():
    weight = torch.tensor([2.0, 3.0], requires_grad=True)

    def f(x):
        if (x * weight).sum() > 0:
            return x * weight
        return weight.exp()

    return f


@program(grad=True, factory=True, inputs=[lambda: (vec(4, 2),), lambda: (vec(0.1, 0.2),)])
def closed_over_parameter_in_a_loop():
    weight = torch.tensor([0.3, 0.5], requires_grad=True)

    def f(x):
        while x.sum() > 1:
            x = x * weight
        return x

    return f


@program(inputs=SIGNS, grad=True)
def checkpoint_inside(x):
    def block(v):
        if v.sum() > 0:
            v = v * v
        while v.norm() > 1:
            v = v / 2
        return v.exp()

    return checkpoint(block, x * 3, use_reentrant=False)


@program(grad=True, factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def checkpoint_around():
    from autograph_torch import convert

    def block(x):
        if x.sum() > 0:
            return x.sin() * x
        return x.cos()

    converted = convert(block)
    compiled = torch.compile(converted, fullgraph=True, backend="eager")

    def f(x):
        if torch.compiler.is_compiling():
            return converted(x)
        return checkpoint(compiled, x, use_reentrant=False)

    return f


@program(grad=True, inputs=SIGNS)
def autocast_around(x):
    w = torch.ones(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        if x.sum() > 0:
            y = (x[None] @ w).float()
        else:
            y = (x[None] @ w.t() * 2).float()
    return y


@program(grad=True, inputs=SIGNS)
def autocast_inside(x):
    w = torch.ones(2, 2)
    if x.sum() > 0:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x[None] @ w
        y = y.float()
    else:
        y = x[None] @ w
    return y


@program(grad=True, inputs=SIGNS)
def vmap_inside(x):
    def f(v):
        return v.sin() * 2

    if x.sum() > 0:
        y = torch.vmap(f)(x)
    else:
        y = torch.vmap(torch.cos)(x)
    return y


@program(inputs=SIGNS)
def vmap_beside(x):
    m = torch.stack([x, x * 2])
    rows = torch.vmap(lambda v: v.sum())(m)
    if rows.sum() > 0:
        rows = rows * 2
    return rows


@program(inputs=SIGNS, refused="vmap over a branch")
def vmap_over_a_branch(x):
    def f(v):
        if v > 0:
            return v * 2
        return v

    return torch.vmap(lambda v: torch.where(v > 0, v * 2, v))(x) + f(x[0])


@program(inputs=SIGNS, refused="functional transforms")
def functional_gradient_inside(x):
    def f(v):
        return (v**2).sum()

    g = torch.func.grad(f)(x)
    if g.sum() > 0:
        return g
    return -g


@program(grad=True, inputs=[lambda: (randn(3, 2),), lambda: (-randn(3, 2),)])
def strided_results(x):
    if x.sum() > 0:
        y = x.t()
    else:
        y = x.t().contiguous() * 2
    return y


@program(grad=True, inputs=[lambda: (randn(3, 2),), lambda: (-randn(3, 2),)])
def expanded_gradient(w):
    if w.sum() > 0:
        return w.sum()
    return (w * w).sum()


@program(grad=True, inputs=[lambda: (randn(1, 2, 4, 4),), lambda: (-randn(1, 2, 4, 4),)])
def channels_last(x):
    w = torch.ones(3, 2, 3, 3) * 0.1
    if x.sum() > 0:
        y = F.conv2d(x.to(memory_format=torch.channels_last), w)
    else:
        y = F.conv2d(x, w) * 2
    return y


@program(grad=True, inputs=SIGNS)
def unused_result_of_a_branch(x):
    if x.sum() > 0:
        y = x * 2
        _z = x**3
    else:
        y = x
        _z = x**2
    return y


@program(grad=True, inputs=SIGNS)
def same_tensor_twice(x):
    if x.sum() > 0:
        y = z = x * 2
    else:
        y, z = x, x
    return y * z


@program(grad=True, inputs=SIGNS)
def early_return_chain(x):
    if x.sum() > 2:
        return x * 2
    if x.sum() > 0:
        return x * 3
    if x[0] < 0:
        return x**2
    return x


@program(grad=True, inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4))])
def swap_of_two_arguments(x, y):
    if x.sum() > 0:
        x, y = y, x
    return x * 2 + y


@program(grad=True, inputs=[lambda: (scalar(2),), lambda: (scalar(0.3),)])
def newton_iteration(a):
    x = a
    while (x * x - a).abs() > 1e-4:
        x = (x + a / x) / 2
    return x


@program(grad=True, inputs=SIGNS)
def embedding_lookup(x):
    table = torch.stack([x, x * 2, x * 3])
    i = torch.tensor([0, 2])
    if x.sum() > 0:
        i = torch.tensor([1, 1])
    return F.embedding(i, table)


@program(inputs=SIGNS, refused=by_torch("2.11", "requires_grad_() is not traced"))
def gradient_inside(x):
    with torch.enable_grad():
        v = x.detach().requires_grad_()
        if x.sum() > 0:
            y = (v**2).sum()
        else:
            y = (v**3).sum()
        (g,) = torch.autograd.grad(y, v)
    return g


class Trainer:
    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Linear(2, 1)
        self.steps = 0
        self.best = float("inf")
        self.bad = 0

    def step(self, x):
        loss = self.model(x).pow(2).mean()
        gradients = torch.autograd.grad(loss, list(self.model.parameters()))
        norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
        with torch.no_grad():
            scale = 1.0
            if norm > 1.0:
                scale = 1.0 / norm
            for parameter, gradient in zip(self.model.parameters(), gradients, strict=True):
                parameter -= 0.1 * scale * gradient
        self.steps += 1
        loss = loss.detach()
        if loss < self.best:
            self.best = loss
            self.bad = 0
        else:
            self.bad += 1
        return loss


@program(inputs=[lambda: (Trainer(), randn(4, 2)), lambda: (Trainer(), randn(4, 2) * 9)])
def steps_of_a_trainer(trainer, x):
    return trainer.step(x) + trainer.step(x * 3), trainer.steps, trainer.bad


@program(inputs=SIGNS, refused=by_torch("2.11", "requires_grad_() is not traced"))
def backward_inside(x):
    v = x.clone().requires_grad_()
    y = (v**2).sum()
    if y > 1:
        y = y * 3
    y.backward()
    return v.grad


@program(grad=True, inputs=SIGNS)
def rows_scaled_in_place_in_a_loop(x):
    y = x.clone()
    i = 0
    while i < 2 and y.abs().max() < 50:
        y[i] *= 3
        i += 1
    return y, i


@program(grad=True, inputs=SIGNS)
def view_at_a_place_from_data(x):
    y = x * 1
    place = int(x.argmax())
    if x.sum() > 0:
        row = y[place]
        row.mul_(x[0])
    else:
        y[place].add_(1)
    return y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], grad=True)
class WeightThatABranchScales(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(vec(3, 4))

    def forward(self, x):
        before = (x + self.weight).sum()
        norm = self.weight.detach().norm()
        if x.sum() > 0:
            y = x + self.weight.detach()
            with torch.no_grad():
                self.weight.mul_(1 / norm)
                self.weight[0] += 1
            y = y + self.weight
        else:
            y = x
        return before + (y + self.weight).sum()


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(5, 2),)], grad=True)
class WeightThatALoopScales(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(vec(3, 4))

    def forward(self, x):
        while self.weight.norm() > x.sum():
            with torch.no_grad():
                self.weight.mul_(0.5)
        return x + self.weight


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], grad=True, refused="eager raises: a leaf is written to")
class WeightThatABranchScalesWithAGradient(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(vec(3, 4))

    def forward(self, x):
        if x.sum() > 0:
            self.weight.mul_(0.5)
        return x + self.weight


@program(inputs=SIGNS)
def backward_to_what_a_branch_gives(x):
    w = x.detach()
    if w.sum() > 0:
        w = w * 2
    w.requires_grad_(True)
    loss = (w**3).sum()
    if loss > 5:
        loss = loss.sqrt()
    loss.backward()
    return w.grad


@program(inputs=SIGNS, refused=by_torch("2.11", "requires_grad_() is not traced"))
def backtracking_from_a_gradient_inside(x):
    with torch.enable_grad():
        z = x.detach().requires_grad_()
        f = (z**4).sum()
        (g,) = torch.autograd.grad(f, z)
    step = 1.0
    while ((x - step * g) ** 4).sum() > f and step > 1e-3:
        step *= 0.5
    return x - step * g, step


@program(grad=True, inputs=SIGNS)
def values_of_a_leaf_made_inside(x):
    w = x.detach().clone()
    w.requires_grad_()
    with torch.no_grad():
        if w.norm() > 2:
            w /= w.norm()
    return w.detach() * x


@program(grad=True, inputs=[lambda: (vec(1, 2, 0.5),), lambda: (vec(-3, -2, 1),), lambda: (vec(-1, 1, 4),)])
def mask_of_a_loop_with_gradients(x):
    kept, level, rounds = x > -9, x.sum() * 0, 0
    while rounds < 4:
        level = x[kept].mean()
        new = kept & ((x - level).abs() <= 2)
        rounds += 1
        if torch.equal(new, kept):
            break
        kept = new
    if level > 0:
        level = level + x[kept].mean()
    return level, kept, rounds


@program(inputs=[lambda: (vec(1, 2), vec(3, 2)), lambda: (vec(-1, -2), vec(3, 2))], grad=True, refused="AG206")
def detached_in_place_in_a_branch(x, w):
    a = x * w
    if x.sum() > 0:
        a.detach_()
    return a, a.requires_grad, a.is_leaf, (a * w).sum()


@program(inputs=[lambda: (vec(1, 2), vec(1, 2)), lambda: (vec(-1, -2), vec(1, 2))], grad=True, refused="AG206")
def detached_in_place_in_a_loop(x, w):
    h, n = x * w, 0
    while h.sum() < 50 and n < 6:
        h = h * w + 1
        if h.sum() > 8:
            h.detach_()
        n += 1
    return (h * w).sum()
