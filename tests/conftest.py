"""What all tests share: marks, a tracer that forgets, and when rubbish is collected.

Beside what is marked slow in the text, the tests are slow that slow_tests.txt names: the longest ones of a run that has
measured all (`pytest --measure -n 2`), so many that the others take some ten minutes.
"""

from __future__ import annotations

import gc
import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

# Tests between two collections of what is in cycles: of what is new since the last one, and of all there is. (By the
# end, that takes seconds.)
_COLLECTED, _ALL = 25, 250
_count = itertools.count(1)

_SLOW_TESTS = Path(__file__).with_name("slow_tests.txt")
_SECONDS = 1100  # that all others may take, one after the other
_NEVER_SLOW = "tests/test_generated.py"  # every change is to be tried on new combinations


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--measure", action="store_true", help="run all tests but slow ones, and write slow_tests.txt anew"
    )


class Durations:
    """How long each test takes, fixtures included."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self) -> None:
        left = sum(self.seconds.values())
        slow = []
        for name, seconds in self.seconds.most_common():
            if left > _SECONDS and not name.startswith(_NEVER_SLOW):
                slow.append(name)
                left -= seconds
        _SLOW_TESTS.write_text("".join(f"{name}\n" for name in sorted(slow)))


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--measure") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what has been measured, and skip what needs a GPU where there is none; torch is asked only when needed."""
    measured = set() if config.getoption("--measure") else set(_SLOW_TESTS.read_text().splitlines())
    for item in items:
        if item.nodeid in measured:
            item.add_marker(pytest.mark.slow)
    _skip_without_gpu(items)


def _skip_without_gpu(items: list[pytest.Item]) -> None:
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
