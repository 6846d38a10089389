"""`max` and `min` of tensors: one of them, chosen as Python chooses."""

import torch

from tests.harness import program, scalar, vec


@program(inputs=[lambda: (scalar(1), scalar(float("nan"))), lambda: (scalar(float("nan")), scalar(1))])
def nan_beside_a_number(a, b):
    return max(a, b), min(a, b), max(b, a), min(b, a)


@program(inputs=[lambda: (vec(1, 1, 1),), lambda: (vec(1, 2, 1),), lambda: (vec(3, 2, 1),)], grad=True)
def gradient_of_equal_ones(x):
    return max(x[0], x[1]) * 2 + min(x[1], x[2]) + max(x[0], x[1], x[2]) + min([x[0] * 2, x[1]])


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(5, 2),)])
def largest_of_a_tensor_and_a_number_that_loses(x):
    return max(x.sum(), 0.5) + min(x[0], 9)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-5, 2),)], refused="a tensor, or the Python number")
def largest_of_a_tensor_and_a_number(x):
    return max(x.sum(), 0)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-5, 2),)])
def largest_under_a_test(x):
    loss = max(x.sum(), torch.zeros(()))
    if loss > 0:
        x = x * min(loss, x[1])
    return x, loss


@program(inputs=[lambda: (vec(1, 2, 2),), lambda: (vec(5, 2, 7),), lambda: (vec(float("nan"), 1, 2),)])
def candidate_with_the_best_score(x):
    candidates = [(x * k, (x * k - 1).norm()) for k in range(3)]
    best = min(candidates, key=lambda c: c[1])
    worst = max(candidates, key=lambda c: c[1].item())
    return best[0] + worst[0], best[1]


@program(inputs=[lambda: (vec(1, 2, 2),), lambda: (vec(5, 2, 7),), lambda: (vec(5, 2, 1),)])
def name_of_the_best_score(x):
    scores = {"first": x[0], "second": x[1], "third": x[2]}
    name = max(scores, key=scores.get)
    print("best", name)
    return name, scores[name] * 2, min(scores, key=lambda k: len(k))


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(1, -2),)])
def best_of_none(x):
    kept = [] if x.sum() < 0 else [x[0], x[1]]
    try:
        return max(kept, key=lambda v: v * 2) + 0
    except ValueError:
        return x


@program(inputs=[lambda: (vec(1, 2, 0.5),), lambda: (vec(-1, 0.1, 3),), lambda: (vec(1, float("nan"), 2),)])
def beams_by_their_scores(x):
    beams = [([0], x[0] * 0)]
    for step in range(2):
        candidates = []
        for words, score in beams:
            best, word = torch.topk(torch.sin(x * (step + 1)), 2)
            for k in range(2):
                candidates.append((words + [word[k]], score + best[k]))
        candidates.sort(key=lambda c: -c[1])
        beams = candidates[:2]
    return torch.stack(beams[0][0][1:]), beams[0][1], len(beams)


@program(inputs=[lambda: (vec(1, 2, 2),), lambda: (vec(3, 3, 1),)])
def sorted_tensors(x):
    rows = [x * 1, x * 2 - 2, x * 0 + 1]
    first, *others = sorted(rows, key=lambda row: row.sum().item(), reverse=True)
    return first + 10, sum(others), sorted([3, 1, 2])


@program(inputs=[lambda: (vec(1, 2, 2),), lambda: (vec(3, 3, 1),)], refused="one of them is written to")
def sorted_tensors_that_are_written_to(x):
    rows = [x * 1, x * 2 - 2, x * 0 + 1]
    first, *_ = sorted(rows, key=lambda row: row.sum(), reverse=True)
    first.add_(10)
    return rows


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(3, 2),)], refused="names in an order that data tell")
def names_by_their_scores(x):
    scores = {"left": x[0], "right": x[1]}
    order = sorted(scores, key=lambda name: scores[name])
    return order[0]


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(1, -2),)])
def largest_with_a_default(x):
    kept = [] if x.sum() < 0 else [x[0], x[1]]
    return max(kept, default=x[0]) * 2, min(kept, key=lambda v: -v, default=x[0]) * 2, max((), default=None)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(1, -2),)])
def key_of_several_values(x):
    return max(x[0], x[1], key=lambda v: -v) * 2, min(3, -4, key=abs)


@program(inputs=[lambda: (vec(1, 3, 2),), lambda: (vec(3, 2, 1),)])
def elements_of_a_tensor_in_order(x):
    low, *_, high = sorted(x)
    return low + 1, high - 1, sorted(x, reverse=True)[0] * 2
