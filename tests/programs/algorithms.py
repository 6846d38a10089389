"""Whole algorithms as users write them: solvers, searches, decoders, clustering."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.harness import integer, ints, program, randn, scalar, vec


def symmetric(n, seed=0):
    a = randn(n, n, seed=seed)
    return a @ a.T + n * torch.eye(n)


@program(inputs=[lambda: (scalar(2),), lambda: (scalar(1),), lambda: (scalar(1e6),)])
def newton_square_root(a, tolerance=1e-6, max_iterations=50):
    x = torch.where(a > 1, a / 2, a)
    for _ in range(max_iterations):
        step = (x * x - a) / (2 * x)
        x = x - step
        if step.abs() < tolerance * x:
            break
    return x


@program(inputs=[lambda: (scalar(0), scalar(3)), lambda: (scalar(1.5), scalar(1.6)), lambda: (scalar(1), scalar(1))])
def bisection(low, high):
    def f(x):
        return x**3 - x - 2

    while high - low > 1e-4:
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@program(
    inputs=[lambda: ([vec(3, 4), vec(12)],), lambda: ([vec(0.1), vec(0.2)],), lambda: ([vec(float("nan")), vec(1)],)],
    refused="the list of the caller, or a new one, out of two branches",
)
def clip_gradients_by_global_norm(gradients, max_norm=5.0):
    total = torch.sqrt(sum((g**2).sum() for g in gradients))
    if not torch.isfinite(total):
        return [torch.zeros_like(g) for g in gradients], total
    if total > max_norm:
        scale = max_norm / (total + 1e-6)
        gradients = [g * scale for g in gradients]
    return gradients, total


@program(
    inputs=[lambda: (vec(1, 2), vec(0.1, 0.1)), lambda: (vec(1, 2), vec(float("nan"), 0)), lambda: (vec(1), vec(9e9))]
)
def skip_update_on_nan(weights, gradient):
    if torch.isnan(gradient).any() or gradient.abs().max() > 1e6:
        return weights, torch.tensor(True)
    return weights - 0.1 * gradient, torch.tensor(False)


@program(inputs=[lambda: (integer(27),), lambda: (integer(1),), lambda: (integer(6),)])
def collatz_with_peak(n):
    steps, peak = 0, n
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        if n > peak:
            peak = n
        steps += 1
    return steps, peak


@program(inputs=[lambda: (symmetric(3),), lambda: (torch.eye(3),), lambda: (torch.zeros(3, 3),)])
def power_iteration(matrix):
    v = torch.ones(matrix.shape[0]) / matrix.shape[0] ** 0.5
    value = torch.tensor(0.0)
    for _ in range(40):
        w = matrix @ v
        norm = w.norm()
        if norm == 0:
            return value, v
        v = w / norm
        new = v @ matrix @ v
        if (new - value).abs() < 1e-5:
            value = new
            break
        value = new
    return value, v


@program(inputs=[lambda: (randn(12, 2), 2), lambda: (torch.zeros(5, 2), 2), lambda: (randn(6, 2, seed=3) * 4, 3)])
def kmeans_until_stable(points, k):
    centres = points[:k]
    shift = torch.tensor(float("inf"))
    rounds = 0
    while shift > 1e-4 and rounds < 20:
        nearest = torch.cdist(points, centres).argmin(1)
        member = F.one_hot(nearest, k).to(points.dtype)
        sizes = member.sum(0).unsqueeze(1)
        new = torch.where(sizes > 0, member.T @ points / sizes.clamp(min=1), centres)
        shift = (new - centres).norm()
        centres = new
        rounds += 1
    return centres, rounds


def oscillator(t, y):
    return torch.stack([y[1], -y[0]]) + 0 * t


@program(inputs=[lambda: (vec(1, 0), scalar(2.0)), lambda: (vec(0, 0), scalar(1.0)), lambda: (vec(1, 1), scalar(0.0))])
def adaptive_heun(y, end, tolerance=1e-3):
    t = torch.zeros(())
    step = torch.tensor(0.5)
    accepted, rejected = 0, 0
    while t < end:
        if t + step > end:
            step = end - t
        k1 = oscillator(t, y)
        k2 = oscillator(t + step, y + step * k1)
        error = (step * (k2 - k1) / 2).abs().max()
        if error < tolerance:
            t = t + step
            y = y + step * (k1 + k2) / 2
            accepted += 1
        else:
            rejected += 1
        factor = 0.9 * torch.sqrt(tolerance / (error + 1e-12))
        step = step * torch.clamp(factor, 0.2, 2.0)
        if step < 1e-6:
            break
    return y, t, accepted, rejected


@program(inputs=[lambda: (ints(1),), lambda: (ints(4),), lambda: (ints(5),)])
class GreedyDecoder(nn.Module):
    def __init__(self, vocabulary=6, eos=2, length=6):
        super().__init__()
        self.eos, self.length = eos, length
        self.embed = nn.Embedding(vocabulary, 8)
        self.cell = nn.GRUCell(8, 8)
        self.head = nn.Linear(8, vocabulary)

    def forward(self, start):
        token = start
        state = torch.zeros(1, 8)
        score = torch.zeros(1)
        produced = 0
        for _ in range(self.length):
            state = self.cell(self.embed(token), state)
            logits = self.head(state).log_softmax(-1)
            best = logits.max(-1)
            token = best.indices
            score = score + best.values
            produced += 1
            if (token == self.eos).all():
                break
        return token, score, produced


@program(inputs=[lambda: (ints(1, 2),), lambda: (ints(0, 0),), lambda: (ints(5, 0),)])
class BatchDecoderIntoABuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 6)
        self.head = nn.Linear(6, 6)

    def forward(self, tokens):
        output = torch.zeros(2, 5, dtype=torch.int64)
        finished = torch.zeros(2, dtype=torch.bool)
        position = torch.tensor(0)
        while position < 5 and not finished.all():
            tokens = self.head(self.embed(tokens)).argmax(-1)
            tokens = torch.where(finished, torch.zeros_like(tokens), tokens)
            output = output.index_copy(1, position.reshape(1), tokens.unsqueeze(1))
            finished = finished | (tokens == 0)
            position = position + 1
        return output, position


@program(inputs=[lambda: (randn(4),), lambda: (randn(4) * 5,), lambda: (randn(4) - 5,)])
class AdaptiveComputationTime(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = nn.Linear(4, 4)
        self.halt = nn.Linear(4, 1)

    def forward(self, state):
        total = torch.zeros(())
        output = torch.zeros_like(state)
        ponder = 0
        while total < 0.99 and ponder < 6:
            state = self.step(state).tanh()
            p = torch.sigmoid(self.halt(state)).squeeze()
            if total + p > 0.99:
                p = 1 - total
            output = output + p * state
            total = total + p
            ponder += 1
        return output, ponder


@program(inputs=[lambda: (ints(1, 3, 5, 7, 9), 7), lambda: (ints(1, 3, 5, 7, 9), 4), lambda: (ints(2), 1)])
def binary_search(values, wanted):
    low = torch.tensor(0)
    high = torch.tensor(len(values))
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@program(inputs=[lambda: (vec(3, -2),), lambda: (vec(0, 0),), lambda: (vec(100, 50),)])
def backtracking_line_search(x):
    def f(p):
        return (p**2).sum() + (p[0] * p[1]).sin()

    gradient = 2 * x
    step = torch.tensor(1.0)
    decrease = 0.5 * (gradient**2).sum()
    while f(x - step * gradient) > f(x) - step * 0.5 * decrease:
        step = step * 0.5
        if step < 1e-3:
            break
    return x - step * gradient, step


@program(inputs=[lambda: (randn(4, 4),), lambda: (torch.zeros(4, 4),), lambda: (randn(4, 4) * 2,)])
def sinkhorn_until_tolerance(scores):
    plan = scores.exp()
    error = torch.tensor(1.0)
    iterations = torch.tensor(0)
    while (error > 1e-3) & (iterations < 50):
        plan = plan / plan.sum(1, keepdim=True)
        plan = plan / plan.sum(0, keepdim=True)
        error = (plan.sum(1) - 1).abs().max()
        iterations = iterations + 1
    return plan


@program(
    inputs=[lambda: (symmetric(4), randn(4)), lambda: (torch.eye(4), randn(4)), lambda: (symmetric(4), torch.zeros(4))]
)
def conjugate_gradients(a, b, tolerance=1e-5):
    x = torch.zeros_like(b)
    r = b - a @ x
    p = r
    rs = r @ r
    for i in range(len(b) * 2):
        if rs.sqrt() < tolerance:
            return x, i
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x, -1


@program(inputs=[lambda: (randn(3, 3) * 0.3,), lambda: (torch.zeros(3, 3),), lambda: (randn(3, 3) * 4,)])
def matrix_exponential_by_scaling(a):
    squarings = 0
    while a.abs().sum(1).max() > 0.5:
        a = a / 2
        squarings += 1
    term = torch.eye(3)
    result = torch.eye(3)
    for k in range(1, 9):
        term = term @ a / k
        result = result + term
    for _ in range(squarings):
        result = result @ result
    return result


@program(inputs=[lambda: (vec(4, -3), 30), lambda: (vec(0, 0), 30), lambda: (vec(400, 3), 4)])
def gradient_descent_with_early_stop(x, epochs):
    best = torch.tensor(float("inf"))
    bad = 0
    for _ in range(epochs):
        loss = (x**2).sum()
        if loss < best - 1e-4:
            best = loss
            bad = 0
        else:
            bad += 1
        if bad >= 3:
            break
        x = x - 0.2 * 2 * x
    return x, best


@program(inputs=[lambda: (integer(97),), lambda: (integer(91),), lambda: (integer(2),), lambda: (integer(1),)])
def is_prime(n):
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


@program(
    refused="a Python list is indexed by data",
    inputs=[lambda: (vec(5, 3, 8, 1),), lambda: (vec(1, 2, 3),), lambda: (vec(2),)],
)
def bubble_sort_with_early_exit(x):
    n = len(x)
    for i in range(n):
        swapped = torch.tensor(False)
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                order = list(range(n))
                order[j], order[j + 1] = order[j + 1], order[j]
                x = x[order]
                swapped = torch.tensor(True)
        if not swapped:
            break
    return x


@program(inputs=[lambda: (scalar(-0.5), scalar(0.5)), lambda: (scalar(2), scalar(2)), lambda: (scalar(0), scalar(0))])
def mandelbrot_escape_time(real, imaginary):
    x, y = torch.zeros(()), torch.zeros(())
    n = 0
    while x * x + y * y <= 4 and n < 25:
        x, y = x * x - y * y + real, 2 * x * y + imaginary
        n += 1
    return n


def star():
    return torch.tensor([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])


@program(
    refused="a Python float that Dynamo has specialised",
    inputs=[lambda: (star(), 0.1), lambda: (star() * 0, 0.1), lambda: (star(), 100.0)],
)
def pagerank_like_diffusion(features, tolerance):
    adjacency = (features @ features.T > 0.3).float()
    degree = adjacency.sum(1)
    if (degree == 0).any():
        adjacency = adjacency + torch.eye(4)
        degree = adjacency.sum(1)
    rank = torch.full((4,), 0.25)
    delta = torch.tensor(float("inf"))
    while delta > tolerance:
        new = 0.15 / 4 + 0.85 * (adjacency / degree.unsqueeze(1)).T @ rank
        delta = (new - rank).abs().sum()
        rank = new
    return rank


@program(
    inputs=[
        lambda: (vec(1, 2, 3), scalar(0.5)),
        lambda: (vec(1, 1, 1), scalar(0.5)),
        lambda: (vec(9, -9, 0), scalar(2)),
    ]
)
def anneal_temperature_to_target_entropy(logits, target):
    temperature = torch.tensor(1.0)
    for _ in range(20):
        p = torch.softmax(logits / temperature, 0)
        entropy = -(p * (p + 1e-9).log()).sum()
        if (entropy - target).abs() < 0.05:
            break
        temperature = temperature * 0.8 if entropy > target else temperature * 1.1
    return temperature, p


@program(inputs=[lambda: (randn(6).abs(), 0.7), lambda: (vec(1, 0, 0, 0), 0.5), lambda: (vec(1, 1, 1, 1), 0.9)])
def nucleus_cutoff(weights, mass):
    p = (weights / weights.sum()).sort(descending=True).values
    total = torch.tensor(0.0)
    kept = 0
    for value in p:
        total = total + value
        kept += 1
        if total >= mass:
            break
    return kept, total
