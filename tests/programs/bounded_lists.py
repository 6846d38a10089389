"""Lists, deques and sets that data make longer and shorter: stacks, queues, windows, what has been seen."""

from collections import deque

import torch

from tests.harness import ints, program, scalar, vec

CODES = [lambda: (ints(1, 1, 2, 2),), lambda: (ints(1, 2, 2, 1),), lambda: (ints(1, 1, 1, 2),)]
SIGNED = [lambda: (vec(1, 2, -1, 3),), lambda: (vec(-1, 1, -1, -1),), lambda: (vec(-1, -2, -1, 0),)]


@program(inputs=[lambda: (scalar(0), scalar(3), scalar(0.01)), lambda: (scalar(0), scalar(1), scalar(0.1))], grad=True)
def intervals_on_a_stack(a, b, tol):
    stack = [(a, b)]
    total = torch.zeros(())
    while stack:
        low, high = stack.pop()
        middle = (low + high) / 2
        one = (high - low) / 2 * (low.sin() + high.sin())
        two = (high - low) / 4 * (low.sin() + 2 * middle.sin() + high.sin())
        if (one - two).abs() < tol:
            total = total + two
        else:
            stack.append((low, middle))
            stack.append((middle, high))
    return total


@program(inputs=CODES)
def brackets(x):
    stack = []
    for v in x.tolist():
        if v == 1:
            stack.append(v)
        else:
            if not stack:
                return False
            stack.pop()
    return not stack


@program(inputs=CODES)
def empty_pop_raises(x):
    stack = [5]
    for v in x.tolist():
        if v == 1:
            stack.append(v)
        else:
            stack.pop()
            stack.pop()
    return len(stack)


@program(inputs=[lambda: (vec(1, 3, 2, 4),), lambda: (vec(4, 3, 2, 1),), lambda: (vec(2, 1, 1, 3),)])
def next_greater(x):
    stack = []
    found = torch.full((4,), -1, dtype=torch.int64)
    for i in range(4):
        while stack and x[stack[-1]] < x[i]:
            found[stack.pop()] = i
        stack.append(i)
    return found, len(stack)


CODES = [
    lambda: (ints(0, 0, 1, 0, 2), vec(2, 3, 4)),
    lambda: (ints(0, 3, 1, 0, 0), vec(2, 3, 4)),
    lambda: (ints(2, 1, 0, 3, 3), vec(2, 3, 4)),
]


@program(inputs=CODES)
def stack_machine(code, consts):
    stack, at = [], 0
    for op in code.tolist():
        if op == 0:
            stack.append(consts[at] * 1.0)
            at += 1
        elif op == 3:
            stack[-1] = -stack[-1]
        elif len(stack) >= 2:
            b, a = stack.pop(), stack.pop()
            stack.append(a + b if op == 1 else a * b)
    return stack[-1], len(stack)


@program(inputs=CODES, refused="a view of an argument may be given back")
def stack_machine_of_views(code, consts):
    stack, at = [], 0
    for op in code.tolist():
        if op == 0:
            stack.append(consts[at])
            at += 1
        elif op == 3:
            stack[-1] = -stack[-1]
        elif len(stack) >= 2:
            b, a = stack.pop(), stack.pop()
            stack.append(a + b if op == 1 else a * b)
    return stack[-1], len(stack)


@program(
    inputs=[
        lambda: (ints(0, 1, 0, 0, 0, 1, 0, 0, 0),),
        lambda: (ints(0, 0, 1, 0, 0, 0, 0, 1, 0),),
        lambda: (ints(0, 0, 0, 0, 0, 0, 0, 0, 0),),
    ]
)
def breadth_first(edges):
    edges = edges.reshape(3, 3)
    seen = {0}
    queue = deque([0])
    order = torch.full((3,), -1, dtype=torch.int64)
    n = 0
    while queue:
        u = queue.popleft()
        order[n] = u
        n += 1
        for v in range(3):
            if edges[u, v] > 0 and v not in seen:
                seen.add(v)
                queue.append(v)
    return order, n, len(seen)


@program(inputs=[lambda: (vec(1, 3, 4, 2),), lambda: (vec(6, 1, 1, 1),)])
def window_with_a_budget(x):
    window = deque()
    total = best = 0.0
    for v in x.tolist():
        window.append(v)
        total += v
        while total > 5 and window:
            total -= window.popleft()
        best = max(best, total)
    return best, len(window)


@program(inputs=SIGNED)
def elements_given_back(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v * 2)
        elif out:
            out.pop()
    return out


@program(inputs=SIGNED, grad=True)
def elements_replaced(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v * v)
        elif out:
            out[-1] = out[-1] * v
    return torch.stack(out).sum() if out else x.sum()


@program(inputs=[lambda: (vec(1, 2, 5, 6),), lambda: (vec(1, 2, 3, 4),)])
def lengths_of_runs(x):
    runs = []
    run = []
    for v in x.tolist():
        if run and abs(v - run[-1]) > 1:
            runs.append(len(run))
            run = []
        run.append(v)
    runs.append(len(run))
    return runs


@program(inputs=[lambda: (ints(1, 2, 1, 3),), lambda: (ints(1, 1, 1, 1),), lambda: (ints(4, 3, 2, 1),)])
def what_has_been_seen(x):
    seen = set()
    again = 0
    for v in x.tolist():
        if v in seen:
            again += 1
            if v == 1:
                seen.discard(v)
        else:
            seen.add(v)
    return again, len(seen)


@program(
    inputs=[lambda: (vec(1, 1.05, 2, 3),), lambda: (vec(1, 1.05, 0.95, -3),), lambda: (vec(-1, 5, 2, 2.05),)],
)
def near_ones_are_merged(x):
    kept = []
    merged = 0
    for v in x:
        if v < 0:
            continue
        for i, k in enumerate(kept):
            if (v - k).abs() <= 0.1:
                kept[i] = (k + v) / 2
                merged += 1
                break
        else:
            kept.append(v)
    return torch.stack(kept), merged


@program(inputs=[lambda: (vec(1, 2, 3, 4), 1.5), lambda: (vec(1, 2, 3, 4), 0.5)])
def suppressed_by_what_is_kept(boxes, limit):
    kept = []
    for i in boxes.argsort(descending=True).tolist():
        if all((boxes[i] - boxes[j]).abs() > limit for j in kept):
            kept.append(i)
    return kept, any(boxes[j] > 3 for j in kept)


@program(inputs=[lambda: (vec(3.5), vec(1, 2)), lambda: (vec(1.5), vec(1, 2))], refused="an argument may be given back")
def an_argument_on_a_stack(x, y):
    stack = [y]
    while x.sum() > 0:
        x = x - 1
        stack.insert(0, y * 2)
        if x.sum() > 1:
            stack.pop()
    return stack, x


@program(inputs=[lambda: (vec(3.5), vec(1, 2)), lambda: (vec(1.5), vec(1, 2))], refused="an argument may be given back")
def an_argument_from_a_stack(x, y):
    stack = [y]
    while x.sum() > 0:
        x = x - 1
        stack.append(y * 2)
        if x.sum() > -1:
            stack.pop()
    return stack[0], x


@program(inputs=[lambda: (vec(3.5), vec(1, 2)), lambda: (vec(1.5), vec(1, 2))])
def an_argument_computed_with(x, y):
    stack = [y]
    while x.sum() > 0:
        x = x - 1
        stack.append(y * 2)
        if x.sum() > -1:
            stack.pop()
    return stack[0] + stack[-1], x


@program(inputs=[lambda: (vec(3),), lambda: (vec(1),)])
def cleared_on_the_way(x):
    xs = [0.5]
    n = 0
    while x.sum() > 0:
        x = x - 1
        xs += [x.sum().item(), 1.0]
        if x.sum() == 1:
            n += len(xs)
            xs.clear()
        else:
            del xs[-1]
    return n, x


@program(inputs=[lambda: (vec(4),), lambda: (vec(1),), lambda: (vec(-1),)])
def taller_and_lower(x):
    xs = [x.sum()]
    n = 0
    while xs[-1] > 0:
        xs.append(xs[-1] - 1)
        n += 1
        if n % 3 == 0:
            xs.pop()
            xs[-1] = xs[-1] - 1
    return len(xs), n


@program(inputs=[lambda: (torch.tensor(9.0),), lambda: (torch.tensor(0.0),), lambda: (torch.tensor(4.0),)])
def popped_behind_what_looks_into_the_list(y):
    stack = [0, 3]
    n, out = int(y), 0
    while n > 0:
        stack.append(n)
        if n > 3:
            out = out + (stack[-1] - stack.pop())
        n = n - 2
    return out, len(stack)


@program(
    inputs=[lambda: (torch.tensor(9.0),), lambda: (torch.tensor(0.0),), lambda: (torch.tensor(4.0),)], refused="AG310"
)
def popped_behind_a_test_of_the_list(y):
    stack = [0, 3]
    n, out = int(y), 0
    while n > 0:
        stack.append(n)
        if n > 3:
            out = out + (n in stack) * 10 + stack.pop()
            stack[-1] = stack[0] + stack.pop()
        n = n - 2
    return out, len(stack)
