import torch


class Counter:
    def __init__(self):
        self.seen = 0


def count(x: torch.Tensor, counter):
    if x.sum() < 0:
        return x
    counter.seen += 1
    return x * counter.seen


def calls(value: float):
    counter = Counter()
    return [count(torch.tensor([value]), counter), count(torch.tensor([3.0]), counter), counter.seen]
# output
import torch
import autograph_torch.runtime as ag


class Counter:
    def __init__(self):
        self.seen = 0


def count(x: torch.Tensor, counter):
    returned = ag.undefined("returned")
    counter_seen = counter.seen
    def step(_, returned, counter_seen, loop):
        def then(counter_seen):
            returned = x
            return loop.stop(returned, counter_seen)
        def otherwise(counter_seen):
            counter_seen += 1
            returned = x * counter_seen
            return loop.stop(returned, counter_seen)
        return ag.cond(x.sum() < 0, then, otherwise, mutated=(counter_seen,))
    returned, counter_seen = ag.for_steps(ag.once(), step, (returned,), mutated=(counter_seen,))
    ag.write(counter, "seen", counter_seen)
    return returned


def calls(value: float):
    counter = Counter()
    return [count(torch.tensor([value]), counter), count(torch.tensor([3.0]), counter), counter.seen]
# calls
calls(2.0)
calls(-2.0)
