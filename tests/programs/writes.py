"""Writes in place to tensors: locals, arguments, buffers, closed-over tensors, and views of them."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.harness import flags, integer, ints, program, randn, scalar, vec

SIGNS = [lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)]


@program(inputs=SIGNS)
def add_to_the_argument(x):
    if x.sum() > 0:
        x.add_(1)
    return x * 2


@program(inputs=SIGNS)
def different_writes_to_the_argument(x):
    if x.sum() > 0:
        x.mul_(2)
    else:
        x.sub_(1).clamp_(min=-2)
    return x.sum()


@program(inputs=SIGNS)
def augmented_element(x):
    y = x * 1
    if x.sum() > 0:
        y[1] += 10
    else:
        y[0] *= 3
    return y


@program(inputs=SIGNS)
def augmented_slice_of_the_argument(x):
    if x.sum() > 0:
        x[1:] *= 2
    return x


@program(inputs=SIGNS)
def mask_write_in_one_branch(x):
    y = x.clone()
    if x.sum() < 0:
        y[y < -1] = 0.0
    return y


@program(inputs=SIGNS)
def mask_write_with_a_tensor_of_values(x):
    y = x.clone()
    if x.sum() > 0:
        y[x > 1] = (x * 10)[x > 1]
    return y


@program(inputs=[lambda: (randn(3, 3),), lambda: (randn(3, 3) - 9,)])
def row_and_column_writes(m):
    out = m.clone()
    if m.sum() > -10:
        out[0] = 1
        out[:, 1] = out[:, 2] + 1
    else:
        out[1, 2] = 5
    return out


@program(inputs=[lambda: (randn(3, 3), ints(2, 0)), lambda: (randn(3, 3) - 9, ints(2, 0))])
def writes_by_index_tensor(m, index):
    out = m.clone()
    if m.sum() > -10:
        out[index] = 0
    else:
        out[:, index] += 1
    return out


@program(inputs=[lambda: (vec(1, 2, 3), integer(1)), lambda: (vec(-1, 2, -3), integer(2))])
def write_at_a_tensor_position(x, i):
    out = x.clone()
    if x.sum() > 0:
        out[i] = 7
    else:
        out[i] = -7
    return out


@program(inputs=SIGNS)
def out_argument_with_two_sides(x):
    result = torch.empty(3)
    if x.sum() > 0:
        torch.add(x, 1, out=result)
    else:
        torch.exp(x, out=result)
    return result


@program(inputs=[lambda: (randn(3, 3),), lambda: (randn(3, 3) - 9,)])
def out_arguments_of_other_sizes(m):
    product, sums = torch.empty(3, 3), torch.zeros(3)
    if m.sum() > -10:
        torch.matmul(m, m, out=product)
        torch.sum(m, 0, out=sums)
    else:
        torch.cumsum(m, 0, out=product)
    return product, sums


@program(inputs=SIGNS)
def out_argument_that_others_see(x):
    buffer = torch.zeros(3)
    alias = buffer
    if x.sum() > 0:
        torch.mul(x, 2, out=buffer)
    return alias + 1


@program(inputs=SIGNS)
def relu_in_place(x):
    h = x * 2
    if x.sum() < 0:
        F.relu_(h)
    else:
        torch.sigmoid_(h)
    return h


@program(inputs=SIGNS)
def relu_with_a_flag(x):
    h = x * 2
    if x.sum() < 0:
        F.relu(h, inplace=True)
    return h


@program(inputs=SIGNS)
class ActivationInPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        h = self.linear(x)
        if x.sum() > 0:
            h = self.act(h)
        return h


@program(inputs=SIGNS)
def view_made_before_the_branch(x):
    base = x.clone()
    head = base[:2]
    if x.sum() > 0:
        head.add_(100)
    return base


@program(inputs=SIGNS)
def base_written_view_returned(x):
    base = x.clone()
    head = base[:2]
    if x.sum() > 0:
        base.add_(100)
    return head * 1


@program(inputs=SIGNS)
def view_made_in_the_branch(x):
    base = x.clone()
    if x.sum() > 0:
        tail = base[1:]
        tail.mul_(2)
    return base


@program(inputs=[lambda: (randn(2, 3),), lambda: (randn(2, 3) - 4,)])
def transposed_view_written(m):
    work = m.clone()
    turned = work.t()
    if m.sum() > 0:
        turned[0] = 1
    else:
        turned.zero_()
    return work


@program(inputs=[lambda: (randn(2, 3),), lambda: (randn(2, 3) - 4,)])
def reshaped_view_written(m):
    work = m.clone()
    flat = work.view(-1)
    if m.sum() > 0:
        flat[4] = 50.0
    return work, flat


@program(inputs=[lambda: (randn(3, 3),), lambda: (randn(3, 3) - 4,)])
def argument_written_through_its_diagonal(m):
    if m.sum() > -10:
        m.diagonal().fill_(1)
    return m.sum()


@program(inputs=[lambda: (randn(3, 3),), lambda: (randn(3, 3) - 4,)])
def diagonal_filled(m):
    if m.sum() > -10:
        m.fill_diagonal_(0)
    return m * 2


@program(inputs=[lambda: (randn(3, 3) + 2,), lambda: (randn(3, 3) - 4,)])
def matrix_and_its_diagonal_read_in_a_branch(m):
    diagonal = torch.diagonal(m)
    if m.sum() > 0:
        y = m @ diagonal
    else:
        y = diagonal * 2
    return y


@program(inputs=[lambda: (randn(3, 3),), lambda: (randn(3, 3) * 0.01,)])
def matrix_and_its_diagonal_read_in_a_loop(m):
    diagonal = torch.diagonal(m)
    x = torch.ones(3)
    while x.norm() > 0.5:
        x = (x - m @ x / (diagonal.abs() + 3)) * 0.5
    return x


@program(inputs=[lambda: (vec(8, 4, 2),), lambda: (vec(0.1, 0.2, 0.3),)])
def argument_written_in_a_loop(x):
    while x.sum() > 1:
        x.mul_(0.5)
    return x


@program(inputs=[lambda: (vec(8, 4, 2),), lambda: (vec(0.1, 0.2, 0.3),)])
def alias_of_what_a_loop_writes(x):
    work = x.clone()
    same = work
    steps = 0
    while work.sum() > 1:
        work /= 2
        steps += 1
    return same, steps


@program(inputs=[lambda: (vec(8, 4, 2),), lambda: (vec(0.1, 0.2, 0.3),)])
def view_of_what_a_loop_writes(x):
    work = x.clone()
    first = work[0]
    while work.sum() > 1:
        work *= 0.5
    return first, work


@program(inputs=[lambda: (integer(4),), lambda: (integer(0),)])
def rows_filled_in_a_loop(n):
    table = torch.zeros(5, 2)
    for i in range(n):
        table[i, 0] = i
        table[i, 1] = i * i
    return table


@program(inputs=[lambda: (integer(4),), lambda: (integer(0),)])
def history_of_a_recurrence(n):
    history = torch.zeros(6)
    history[0] = 1.0
    k = 0
    while k < n:
        history[k + 1] = history[k] * 0.5 + 1
        k += 1
    return history


@program(inputs=[lambda: (vec(3, 1, 2),), lambda: (vec(1, 2, 3),)])
def bubble_sort_in_place(x):
    for i in range(2):
        for j in range(2 - i):
            if x[j] > x[j + 1]:
                larger = x[j].clone()
                x[j] = x[j + 1]
                x[j + 1] = larger
    return x


@program(inputs=[lambda: (vec(3, 1, 2),), lambda: (vec(1, 2, 3),)])
def swap_by_tuple(x):
    y = x.clone()
    if y[0] > y[1]:
        y[0], y[1] = y[1].item(), y[0].item()
    return y


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(1, 2),)])
def closed_over_tensor_written():
    total = torch.zeros(2)

    def add(x):
        if x.sum() > 0:
            total.add_(x)
        return total * 2

    return add


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(4, 2),)])
def closed_over_element_written():
    table = torch.zeros(3, 2)

    def note(x):
        if x.sum() > 0:
            table[0] = x
        else:
            table[1] += x
        return table.sum()

    return note


@program(factory=True, inputs=[lambda: (scalar(5),), lambda: (scalar(0),)])
def closed_over_tensor_written_in_a_loop():
    trips = torch.zeros(())

    def count(x):
        while x > 1:
            x = x / 2
            trips.add_(1)
        return x

    return count


@program(inputs=[lambda: (randn(4, 3),), lambda: (randn(4, 3) - 5,), lambda: (randn(4, 3, seed=1),)])
class BuffersInPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x):
        if x.mean() > -1:
            self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
            self.count += 1
        return x - self.mean


@program(inputs=[lambda: (randn(4, 3),), lambda: (randn(4, 3) - 5,), lambda: (randn(4, 3, seed=1),)])
class BufferCopiedInto(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(3))

    def forward(self, x):
        if x.mean() > -1:
            self.last.copy_(x[0])
        else:
            self.last.zero_()
        return x + self.last


@program(inputs=[lambda: (ints(1, 2),), lambda: (ints(0, 1),), lambda: (ints(2, 2),)])
class QueueWithPointer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("queue", torch.zeros(3, 2, dtype=torch.int64))
        self.register_buffer("pointer", torch.tensor(0))

    def forward(self, x):
        if x.sum() > 1:
            self.queue[self.pointer.item()] = x
            self.pointer += 1
        return self.queue.sum(0), self.pointer.clone()


@program(inputs=[lambda: (vec(4, 3),), lambda: (vec(0.1, 0.2),), lambda: (vec(9, 9),)])
class BufferWrittenInALoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("trips", torch.tensor(0))

    def forward(self, x):
        while x.sum() > 1:
            x = x * 0.5
            self.trips += 1
        return x


@program(inputs=[lambda: (randn(4, 3),), lambda: (randn(4, 3) - 5,)])
class BatchNormOnOneSide(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        if x.mean() > -1:
            y = self.norm(x)
        else:
            y = x * 2
        return y


@program(inputs=[lambda: (randn(4, 3),), lambda: (randn(4, 3) - 5,)])
class BatchNormOnOneSideWithoutGradients(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    @torch.no_grad()
    def forward(self, x):
        y = x
        if x.mean() > -1:
            y = self.norm(x)
        return y + 1


@program(inputs=[lambda: (randn(4, 3),), lambda: (randn(4, 3) - 5,)])
class TwoBatchNorms(nn.Module):
    def __init__(self):
        super().__init__()
        self.clean = nn.BatchNorm1d(3)
        self.noisy = nn.BatchNorm1d(3)

    def forward(self, x):
        if x.mean() > -1:
            return self.clean(x)
        return self.noisy(x)


@program(inputs=[lambda: (randn(4, 3),), lambda: (randn(4, 3) - 5,)])
class BatchNormInEvaluation(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.eval()

    def forward(self, x):
        if x.mean() > -1:
            return self.norm(x)
        return x


@program(inputs=SIGNS)
def write_in_a_nested_branch(x):
    y = x.clone()
    if x.sum() > 0:
        if x[0] > 0:
            y.add_(1)
        else:
            y.sub_(1)
    else:
        if x[1] < -1:
            y[0] = 9
    return y


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 5, -3),), lambda: (vec(-1, -5, -3),)])
def write_in_a_branch_in_a_loop(x):
    y = torch.zeros(3)
    for i in range(3):
        if x[i] > 0:
            y[i] = x[i] * 2
        else:
            y += 0.5
    return y


@program(inputs=SIGNS)
def write_under_no_grad(x):
    y = x.clone()
    with torch.no_grad():
        if x.sum() > 0:
            y.add_(1)
        else:
            y[0] = 4
    return y


@program(inputs=SIGNS)
@torch.no_grad()
def decorated_with_no_grad(x):
    y = x
    if x.sum() > 0:
        y += 1
    while y.sum() > 4:
        y -= 1
    return y


@program(inputs=SIGNS)
def read_of_an_alias_after_the_write_in_the_branch(x):
    y = x.clone()
    z = y
    if x.sum() > 0:
        y.add_(1)
        w = z * 2
    else:
        w = z
    return w, y


@program(inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4))])
def rebound_then_written(x, y):
    if x.sum() > 0:
        y = y.clone()
        y.add_(1)
    return y


@program(inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4))])
def written_then_rebound(x, y):
    if x.sum() > 0:
        y.add_(1)
        y = y * 2
    return y


@program(inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4))])
def one_argument_copied_into_the_other(x, y):
    if x.sum() > 0:
        y[:] = x
    else:
        y.fill_(x[0].item())
    return y.sum()


@program(inputs=[lambda: (vec(1, 2), flags(1, 0)), lambda: (vec(1, 2), flags(0, 0))])
def masked_fill_in_place(x, mask):
    y = x.clone()
    if mask.any():
        y.masked_fill_(mask, -1)
        mask.logical_not_()
    return y, mask


@program(inputs=[lambda: (ints(1, 2),), lambda: (ints(-1, -2),)])
def integers_written_in_place(x):
    if x.sum() > 0:
        x += 1
        x <<= 1
    else:
        x //= 2
    return x


@program(inputs=[lambda: (flags(1, 0),), lambda: (flags(0, 0),)])
def flags_written_in_place(mask):
    if mask.any():
        mask |= flags(0, 1)
    else:
        mask ^= flags(1, 1)
    return mask


@program(inputs=[lambda: (vec(1, 2), ints(0, 1, 1), vec(5, 6, 7)), lambda: (vec(-1, -2), ints(0, 1, 1), vec(5, 6, 7))])
def scatter_and_index_add(x, index, values):
    y = x.clone()
    if x.sum() > 0:
        y.index_add_(0, index, values)
    else:
        y.scatter_add_(0, index, values)
    return y


@program(inputs=[lambda: (vec(1, 2), vec(0, 0)), lambda: (vec(-1, -2), vec(0, 0))])
def helper_that_writes_its_argument(x, target):
    def store(value, into):
        into.copy_(value)

    if x.sum() > 0:
        store(x, target)
    else:
        store(-x, target)
    return target


def accumulate_into(total, value):
    total += value
    return total


@program(inputs=[lambda: (vec(1, 2), vec(0, 0)), lambda: (vec(-1, -2), vec(0, 0))])
def global_helper_that_writes_its_argument(x, target):
    if x.sum() > 0:
        target = accumulate_into(target, x)
    return target


@program(inputs=[lambda: (integer(3), vec(1, 1)), lambda: (integer(0), vec(1, 1))])
def power_iteration_in_place(n, v):
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    for _ in range(n):
        v.copy_(a @ v)
        v /= v.norm()
    return v


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def data_of_a_view_chain(x):
    base = torch.zeros(2, 2)
    row = base[0]
    element = row[1]
    if x.sum() > 0:
        element.fill_(5)
    else:
        row.fill_(2)
    return base


@program(inputs=[lambda: (randn(2, 2),), lambda: (randn(2, 2) - 5,)])
def resized_view_with_unsqueeze(x):
    column = x.unsqueeze(-1)
    if x.mean() > -1:
        column.neg_()
    return x


@program(inputs=[lambda: (vec(1, 2, 3, 4),), lambda: (vec(-1, -2, -3, -4),)])
def chunks_of_one_tensor_written(x):
    work = x.clone()
    left, right = work.chunk(2)
    if x.sum() > 0:
        left.add_(right)
    else:
        right.add_(left)
    return work


@program(inputs=[lambda: (torch.ones(2, 3),), lambda: (-torch.ones(2, 3),)])
def rows_written_while_iterating(m):
    for row in m:
        if row.sum() > 0:
            row.mul_(3)
    return m


@program(inputs=[lambda: (scalar(3),), lambda: (scalar(-3),)])
def zero_dimensional_argument_written(x):
    if x > 0:
        x += 1
    else:
        x.neg_()
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def write_then_branch_on_the_result(x):
    y = x.clone()
    y += 1
    if y.sum() > 0:
        y *= 2
    if y.sum() > 6:
        y -= 100
    return y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def early_return_after_a_write(x):
    if x.sum() > 0:
        x.add_(1)
        return x * 2
    x.sub_(1)
    return x


@program(inputs=[lambda: (vec(5, 2),), lambda: (vec(0.1, 0.2),)])
def break_after_a_write(x):
    y = torch.zeros(2)
    for _ in range(4):
        y += x
        if y.sum() > 10:
            break
        x *= 2
    return y


@program(inputs=[lambda: (ints(3, 2),), lambda: (ints(6, 5),), lambda: (ints(0, -1),)])
def list_of_what_a_branch_has_written(x):
    free = torch.full((2,), 5)
    if x[0] < 4:
        free[0] -= x[0]
        left = free.tolist()
    else:
        left = [0, 0]
    return left, free


@program(inputs=[lambda: (ints(3, 2),), lambda: (ints(6, 5),), lambda: (ints(0, -1),)])
def list_of_what_each_trip_has_written(x):
    free = torch.full((2, 2), 5)
    total = 0
    while free[0, 0] > x[0]:
        free[0] -= 1
        (a, _), (b, c) = free.tolist()
        total += a + b - c
    return total, free


@program(inputs=[lambda: (ints(3, 2),), lambda: (ints(6, 5),)])
def seats_and_those_turned_away(sizes):
    free = torch.full((2,), 5)
    away = []
    for k, size in enumerate(sizes):
        if free[0] >= size:
            free[0] -= size
        else:
            away.append(k)
    return len(away), free.tolist(), away
