"""Deques, on the paths that data take."""

from collections import deque

import torch

from tests.harness import program, vec

SIGNS = [lambda: (vec(1, -2, 3, 4),), lambda: (vec(-1, -2, -3, -4),), lambda: (vec(1, 2, 3, 4),)]


@program(inputs=SIGNS)
def window_of_one(x):
    window = deque(maxlen=1)
    for v in x:
        if v > 0:
            window.append(v)
    return list(window)


@program(inputs=SIGNS)
def lengths_of_a_window(x):
    n, window = 0, deque(maxlen=2)
    for v in x:
        if v > 0:
            window.append(v)
            n = n + len(window)
    return n, list(window)


@program(inputs=SIGNS, refused="another name leads to a deque whose length data tell")
def window_by_another_name(x):
    window = deque(maxlen=2)
    names = [window]
    for v in x:
        if v > 0:
            names[0].append(v)
    return list(window)


@program(inputs=SIGNS)
def moving_mean(x):
    window, means = deque(maxlen=2), []
    for v in x:
        if v > 0:
            window.append(v)
        means.append(sum(window) / len(window) if window else v * 0)
    return torch.stack(means)


@program(inputs=SIGNS)
def first_in_first_out(x):
    queue = deque()
    for v in x:
        if v > 0:
            queue.append(v)
        if len(queue) > 2:
            queue.popleft()
    return list(queue)


@program(inputs=SIGNS)
def both_ends(x):
    ordered = deque()
    for v in x:
        if v > 0:
            ordered.append(v)
        else:
            ordered.appendleft(v)
    return torch.stack(list(ordered))


@program(inputs=SIGNS)
def many_to_the_left(x):
    window = deque(maxlen=3)
    for v in x[:3]:
        if v > 0:
            window.extendleft([v, v * 2])
    return window, window.maxlen


@program(inputs=SIGNS)
def lists_in_a_deque(x):
    runs, last = deque(maxlen=2), []
    for v in x[:3]:
        if v > 0:
            last = [v]
            runs.append(last)
        last.append(v)
    return list(runs), last


@program(inputs=SIGNS)
def one_of_two_deques(x):
    if x.sum() > 0:
        found = deque([x[0]], maxlen=2)
    else:
        found = deque([x[1], x[0]], maxlen=3)
    found.append(x[2])
    return found


@program(inputs=SIGNS)
def copies_keep_the_length(x):
    window, none = deque([x[0]], maxlen=1), deque([x[0]], maxlen=0)
    none.append(x[1])
    copy, twice = window.copy(), window * 2
    copy.append(x[1])
    twice.append(x[2])
    return copy, twice, none, copy.maxlen, window


@program(inputs=SIGNS)
def deques_in_a_deque(x):
    inner = deque([x[0]], maxlen=1)
    outer = deque([inner], maxlen=3)
    taken = outer.pop()
    taken.append(x[1])
    outer.extend([taken, taken.copy()])
    first = outer.popleft()
    first.append(x[2])
    return outer, taken is first, first.maxlen


@program(inputs=SIGNS)
def another_deque_on_one_path(x):
    queue, other = deque([x[0]]), deque([x[1]])
    first = queue is other
    if x.sum() > 0:
        queue = other
    return list(queue), first, queue is other, queue is not None


@program(inputs=SIGNS)
def deques_that_turn(x):
    queue = deque([x[0], x[1] * 2, x[2]], maxlen=3)
    queue.rotate()
    first = queue[0]
    queue.rotate(-1)
    if x.sum() > 0:
        queue.append(x.sum())
    return list(queue), first


@program(
    inputs=[lambda: (vec(1, 2), deque([vec(3, 4), vec(5, 6), vec(7, 8)])), lambda: (vec(-1, 2), deque([vec(3, 4)]))]
)
def a_deque_of_the_caller_turns(x, queue):
    queue.rotate(len(queue) - 2)
    queue.append(x)
    return queue[0] + x
