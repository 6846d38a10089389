"""Run many generated programs, count the verdicts and print the smallest failures.

python -m tests.fuzz -n 2000 -j 2 --seed 7
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import HypothesisException

from tests.generator import SIZES, Generated, Size, generated, judge
from tests.harness import Verdict, Way

FAILURES = ("wrong", "crashed")


@dataclass
class Tally:
    """The verdict of every program seen, by its text, so that a second look costs nothing."""

    ways: tuple[Way, ...]
    verdicts: dict[Generated, Verdict] = field(default_factory=dict)

    def judge(self, made: Generated) -> Verdict:
        """The verdict, without the exception (which keeps whole graphs alive)."""
        if made not in self.verdicts:
            verdict = judge(made, self.ways)
            self.verdicts[made] = Verdict(verdict.kind, verdict.reason)
        return self.verdicts[made]


@dataclass(frozen=True)
class Report:
    """What one process found: how often each verdict and reason, and the smallest program of each kind of failure."""

    counts: Counter[tuple[str, str]]
    smallest: tuple[tuple[Generated, Verdict], ...]


class Found(Exception):
    """A program with the failure that is being shrunk."""


def main(arguments: list[str] | None = None) -> int:
    """Exit code 1 when a program is wrong or crashes."""
    options = parser().parse_args(arguments)
    started = time.monotonic()
    share = -(-options.n // options.j)
    work = partial(explore, share, tuple(options.way), options.shrink)
    seeds = [options.seed + index for index in range(options.j)]
    if options.j == 1:
        reports = [work(options.seed)]
    else:
        with multiprocessing.get_context("spawn").Pool(options.j) as pool:
            reports = pool.map(work, seeds)
    counts = sum((report.counts for report in reports), Counter())
    show(counts, [pair for report in reports for pair in report.smallest])
    print(f"{counts.total()} programs in {time.monotonic() - started:.0f} s, seeds {seeds}")
    return int(any(kind in FAILURES for kind, _ in counts))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Run many generated programs against eager."
    )
    result.add_argument("-n", type=int, default=2000, help="programs in all")
    result.add_argument("-j", type=int, default=1, help="processes")
    result.add_argument("--seed", type=int, default=0)
    result.add_argument("--way", nargs="+", default=["converted", "eager"], help="ways to run each program")
    result.add_argument("--shrink", type=int, default=500, help="programs tried while shrinking a failure")
    return result


def explore(count: int, ways: tuple[Way, ...], budget: int, start: int) -> Report:
    """Judge `count` programs, then shrink one failure of each kind."""
    tally = Tally(ways)

    def look(made: Generated) -> None:
        tally.judge(made)

    attempt(look, count, start, (Phase.generate,))
    counts: Counter[tuple[str, str]] = Counter(
        (verdict.kind, summary(verdict.reason)) for verdict in tally.verdicts.values()
    )
    failing = [kind for kind in FAILURES if any(verdict.kind == kind for verdict in tally.verdicts.values())]
    return Report(counts, tuple(shrunk(tally, kind, count, budget, start) for kind in failing))


def attempt(
    test: Callable[[Generated], None],
    count: int,
    start: int,
    phases: tuple[Phase, ...],
    sizes: tuple[Size, ...] = SIZES,
) -> None:
    """Run `test` on `count` programs; the same ones for the same `start`."""
    quiet = settings(
        max_examples=count, phases=phases, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    seed(start)(quiet(given(generated(sizes))(test)))()


def shrunk(tally: Tally, kind: str, count: int, budget: int, start: int) -> tuple[Generated, Verdict]:
    """The smallest program with this failure that `budget` tries find. The first programs come from the tally."""
    limit = len(tally.verdicts) + budget

    def fails(made: Generated) -> None:
        known = made in tally.verdicts or len(tally.verdicts) < limit
        if known and tally.judge(made).kind == kind:
            raise Found

    try:
        attempt(fails, count, start, (Phase.generate, Phase.shrink))
    except (Found, HypothesisException):
        pass
    failing = [(made, verdict) for made, verdict in tally.verdicts.items() if verdict.kind == kind]
    return min(failing, key=lambda pair: len(pair[0].text))


def summary(reason: str) -> str:
    """A reason without its values, so that like failures count together."""
    first = re.sub(r"\n.*", "", reason.split(": expected")[0])
    unplaced = re.sub(r"\S*(<generated \w+>|\.py)(:\d+)*:? ?", "", first)
    return re.sub(r"\d+|'[^']*'|`[^`]*`|0x[0-9a-f]+", "_", unplaced)[:160]


def show(counts: Counter[tuple[str, str]], smallest: list[tuple[Generated, Verdict]]) -> None:
    """Totals, then each reason, then the smallest failing programs."""
    totals: Counter[str] = Counter()
    for (kind, _), number in counts.items():
        totals[kind] += number
    print(", ".join(f"{kind} {totals[kind]}" for kind in ("equal", "refused", *FAILURES)))
    for (kind, reason), number in counts.most_common():
        if kind != "equal":
            print(f"  {number:5} {kind}: {reason}")
    for made, verdict in smallest:
        print(f"\n{verdict.kind}: {verdict.reason}\nnumbers={made.numbers}, grad={made.grad}\n{made.text}")


if __name__ == "__main__":
    sys.exit(main())
