"""What all tests share: marks that need a device, a tracer that forgets, and when rubbish is collected."""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Iterator

import pytest

# Tests between two collections of what is in cycles: of what is new since the last one, and of all there is. (By the
# end, that takes seconds.)
_COLLECTED, _ALL = 25, 250
_count = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a GPU where there is none; torch is asked only when such a test was selected."""
    gpu = [item for item in items if item.get_closest_marker("gpu")]
    if not gpu:
        return
    import torch

    if not torch.cuda.is_available():
        for item in gpu:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))


@pytest.fixture(autouse=True)
def forget_compiled_code() -> Iterator[None]:
    """Compiled code of one test must neither serve another nor count towards its recompile limit."""
    yield
    if "torch._dynamo" in sys.modules:
        sys.modules["torch._dynamo"].reset()


@pytest.fixture(scope="session", autouse=True)
def no_warning_of_slow_guards() -> None:
    """torch warns of Python 3.13.0 whenever it compiles; tests of what is printed, warned and logged show all of it."""
    if sys.version_info[:3] == (3, 13, 0) and "torch" in sys.modules:
        import torch._dynamo

        torch._dynamo.config.issue_3_13_0_warning = False


@pytest.fixture(scope="session", autouse=True)
def collect_seldom() -> Iterator[None]:
    """A trace makes many objects, and few are rubbish before it ends: looking for them takes a seventh of the time."""
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def collect_at_times() -> Iterator[None]:
    yield
    number = next(_count)
    if number % _ALL == 0:
        gc.unfreeze()
    if number % _COLLECTED == 0:
        gc.collect()
        gc.freeze()
