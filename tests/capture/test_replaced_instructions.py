"""`del` of variables that inner functions read, and imports that fail."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import CaptureError, convert


def compiled(function):
    return torch.compile(convert(function), fullgraph=True, backend="eager")


def test_deleted_behind_a_branch():
    def distances(x, y, kind="l1"):
        diff = x - y
        if diff.sum() > 0:
            far = diff.abs()
        else:
            far = diff.square()
        del diff
        diff = far + 1
        return diff * 2

    for x in (torch.ones(2), -torch.ones(2)):
        assert torch.equal(compiled(distances)(x, torch.zeros(2)), distances(x, torch.zeros(2)))


def test_deleted_though_a_function_reads_it():
    def read_by_a_function(x):
        scale = x.sum()
        doubled = (lambda: scale * 2)()  # noqa: F821
        del scale
        return doubled if x.sum() > 0 else -doubled

    for x in (torch.ones(2), -torch.ones(2)):
        assert torch.equal(compiled(read_by_a_function)(x), read_by_a_function(x))


@pytest.mark.parametrize("later", ["lambda_", "name"])
def test_a_read_behind_it_raises_or_is_refused(later):
    def read_later(x):
        scale = x.sum()
        read = lambda: scale * 2  # noqa: E731, F821
        if x.sum() > 0:
            x = x + read()
        del scale
        return read() if later == "lambda_" else scale + x  # noqa: F821

    with pytest.raises((CaptureError, NameError, torch._dynamo.exc.Unsupported)):
        compiled(read_later)(torch.ones(2))


def test_an_import_that_fails_is_handled():
    def optional(x):
        try:
            import not_there_at_all as fast
        except ImportError as error:
            fast, said = None, str(error)
        return (x * 2 if x.sum() > 0 else x), fast, said

    for x in (torch.ones(2), -torch.ones(2)):
        assert str(compiled(optional)(x)) == str(optional(x))


def test_an_import_that_fails_in_a_branch_raises_where_it_is_taken():
    def in_a_branch(x):
        if x.sum() < 0:
            import not_there_at_all

            return not_there_at_all.abs(x)
        return x * 2

    run = compiled(in_a_branch)
    assert torch.equal(run(torch.ones(2)), 2 * torch.ones(2))
    with pytest.raises(ModuleNotFoundError, match="No module named 'not_there_at_all'"):
        run(-torch.ones(2))


def delegates(x):
    log = []

    def rows():
        kept = 0
        for v in x:
            sent = yield v
            if sent is not None:
                return sent
            kept += 1
        return kept

    def outer():
        log.append((yield from rows()))
        yield x.sum()

    for v in outer():
        log.append(v * 2)
    other = outer()
    log.append(next(other))
    log.append(other.send("halt"))
    return log


def test_what_a_generator_returns_is_what_yield_from_gives():
    found = torch.compile(convert(delegates), backend="eager", fullgraph=True)
    for values in ([1.0, 2.0], [-1.0, 2.0]):
        assert repr(found(torch.tensor(values))) == repr(delegates(torch.tensor(values)))


class Region:
    """What `__contains__` gives is a tensor, a text, a number."""

    def __init__(self, middle, found=None):
        self.middle, self.found = middle, found

    def __contains__(self, x):
        return (self.middle - x).abs().max() < 1 if self.found is None else self.found


def test_in_gives_a_truth():
    def is_near(x):
        near = Region(torch.zeros(2))
        found = x in near, x not in near, x in Region(x, "yes"), x in Region(x, 0), x not in Region(x, [])
        if x.sum() > 0:
            x = x * (x in near)
        return x, found, [k for k in range(3) if x - k in near]

    for x in (torch.zeros(2), torch.ones(2) * 0.5, torch.ones(2) * 5):
        assert repr(compiled(is_near)(x)) == repr(is_near(x))
