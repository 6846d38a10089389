"""Run many generated programs, count the verdicts and print the smallest failures.

python -m tests.fuzz -n 2000 -j 2 --seed 7

Programs come in chunks, a process and a seed each, so that the same `-n` and `--seed` give the same programs however
many processes share the work, and so that no process grows for hours. A program that two chunks make counts once.
With `--keep DIR` the chunks of a run that was ended are not made again.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

from autograph_torch.capture import searches
from tests import worlds
from tests.generator import SIZES, SMALL, Generated, generated, judge
from tests.harness import Verdict
from tests.kept import code, kept
from tests.worlds import World

FAILURES = ("wrong", "crashed")
CHUNK = 250
COLLECTED = 40  # programs between two collections of what is in cycles
# From its eleventh example on, hypothesis mutates: five of six programs would be near copies of one before.
FRESH = 10


Made = Generated | World


@dataclass(frozen=True)
class Source:
    """What makes programs, and what judges one."""

    programs: SearchStrategy[Any]
    judge: Callable[[Any], Verdict]


@dataclass
class Tally:
    """The verdict of every program seen, by its text, so that a second look costs nothing."""

    source: Source
    verdicts: dict[Made, Verdict] = field(default_factory=dict)

    def judge(self, made: Made) -> Verdict:
        """The verdict, without the exception (which keeps whole graphs alive)."""
        if made not in self.verdicts:
            verdict = self.source.judge(made)
            self.verdicts[made] = Verdict(verdict.kind, verdict.reason)
        return self.verdicts[made]


@dataclass(frozen=True)
class Report:
    """What one chunk found: the verdict of each program by its name, and the smallest program of each failure."""

    verdicts: dict[str, tuple[str, str]]
    smallest: tuple[tuple[Made, Verdict], ...]


class Found(Exception):
    """A program with the failure that is being shrunk."""


def main(arguments: list[str] | None = None) -> int:
    """Exit code 1 when a program is wrong or crashes."""
    options = parser().parse_args(arguments)
    started = time.monotonic()
    starts = range(options.seed, options.seed + -(-options.n // CHUNK))
    work = partial(reported, -(-options.n // len(starts)), options)
    verdicts: dict[str, tuple[str, str]] = {}
    smallest: list[tuple[Made, Verdict]] = []
    with multiprocessing.get_context("spawn").Pool(options.j, maxtasksperchild=1) as pool:
        for done, report in enumerate(pool.imap_unordered(work, starts), 1):
            verdicts |= report.verdicts
            smallest += report.smallest
            counts = Counter(verdicts.values())
            print(f"chunk {done} of {len(starts)}: {totals(counts)}", file=sys.stderr)
            show(Counter(report.verdicts.values()), list(report.smallest), sys.stderr)
    print(totals(counts))
    show(counts, smallest, sys.stdout)
    seeds = f"seeds {starts[0]} to {starts[-1]}"
    print(f"{counts.total()} programs in {time.monotonic() - started:.0f} s, {seeds}")
    return int(any(kind in FAILURES for kind, _ in counts))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Run many generated programs against eager."
    )
    result.add_argument("-n", type=int, default=2000, help="programs in all")
    result.add_argument("-j", type=int, default=1, help="processes")
    result.add_argument("--seed", type=int, default=0)
    result.add_argument("--small", action="store_true", help="only programs of the smallest size")
    result.add_argument("--worlds", action="store_true", help="functions whose world changes between their calls")
    result.add_argument("--way", nargs="+", default=["converted", "any graph"], help="ways to run each program")
    result.add_argument("--search", type=int, help="seconds until a program goes on one path, instead of those in use")
    result.add_argument("--keep", type=Path, metavar="DIR", help="keep the chunks there, and take those that are there")
    result.add_argument("--shrink", type=int, default=500, help="programs tried while shrinking a failure")
    return result


def source_of(options: argparse.Namespace) -> Source:
    """The programs that are asked for."""
    if options.worlds:
        return Source(worlds.worlds(), worlds.judge)
    return Source(generated(SMALL if options.small else SIZES), partial(judge, ways=tuple(options.way)))


def reported(count: int, options: argparse.Namespace, start: int) -> Report:
    """What `explore` finds, which `--keep` keeps."""
    if options.keep is None:
        return explore(count, options, start)
    told = [f"{name}={getattr(options, name)}" for name in ("small", "worlds", "way", "search", "shrink")]
    asked = f"{count} programs, {', '.join(told)}; {code()}"
    return kept(options.keep / f"{start}.pickle", asked, partial(explore, count, options, start))


def explore(count: int, options: argparse.Namespace, start: int) -> Report:
    """Judge `count` programs, then shrink one failure of each kind and reason."""
    tally = Tally(source_of(options))
    if options.search:
        searches._SECONDS = options.search

    def look(made: Made) -> None:
        tally.judge(made)
        if len(tally.verdicts) % COLLECTED == 0:
            gc.collect()

    gc.freeze()
    gc.disable()  # a seventh of the time: a trace makes many objects, and few are rubbish before it ends
    attempt(look, count, start, (Phase.generate,), tally.source.programs)
    gc.enable()
    verdicts = {made.name: kind_of(verdict) for made, verdict in tally.verdicts.items()}
    failing = sorted({found for found in verdicts.values() if found[0] in FAILURES})
    return Report(verdicts, tuple(shrunk(tally, found, count, options.shrink, start) for found in failing))


def attempt(
    test: Callable[[Any], None], count: int, start: int, phases: tuple[Phase, ...], programs: SearchStrategy[Any]
) -> None:
    """Run `test` on `count` programs; the same ones for the same `start`."""
    quiet = settings(
        max_examples=FRESH, phases=phases, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    for part in range(-(-count // FRESH)):
        seed(f"{start}.{part}")(quiet(given(programs)(test)))()


def shrunk(tally: Tally, wanted: tuple[str, str], count: int, budget: int, start: int) -> tuple[Made, Verdict]:
    """The smallest program with this failure that `budget` tries find. The first programs come from the tally."""
    limit = len(tally.verdicts) + budget

    def fails(made: Made) -> None:
        known = made in tally.verdicts or len(tally.verdicts) < limit
        if known and kind_of(tally.judge(made)) == wanted:
            raise Found

    try:
        attempt(fails, count, start, (Phase.generate, Phase.shrink), tally.source.programs)
    except (Found, HypothesisException):
        pass
    failing = [(made, verdict) for made, verdict in tally.verdicts.items() if kind_of(verdict) == wanted]
    return min(failing, key=lambda pair: len(pair[0].text))


def kind_of(verdict: Verdict) -> tuple[str, str]:
    """What counts together."""
    return verdict.kind, summary(verdict.reason)


def summary(reason: str) -> str:
    """A reason without its values, so that like failures count together."""
    first = re.sub(r"\n.*", "", reason.split(": expected")[0])
    unplaced = re.sub(r"\S*(<generated \w+>|\.py)(:\d+)*:? ?", "", first)
    return re.sub(r"\d+|'[^']*'|`[^`]*`|0x[0-9a-f]+", "_", unplaced)[:160]


def totals(counts: Counter[tuple[str, str]]) -> str:
    """How many programs have each kind of verdict."""
    kinds: Counter[str] = Counter()
    for (kind, _), number in counts.items():
        kinds[kind] += number
    return ", ".join(f"{kind} {kinds[kind]}" for kind in ("equal", "refused", *FAILURES))


def show(counts: Counter[tuple[str, str]], smallest: list[tuple[Made, Verdict]], out: TextIO) -> None:
    """Each reason, then the smallest failing programs."""
    for (kind, reason), number in counts.most_common():
        if kind != "equal":
            print(f"  {number:5} {kind}: {reason}", file=out)
    for made, verdict in smallest:
        print(f"\n{verdict.kind}: {verdict.reason}\n{made.told}\n{made.text}", file=out)
    out.flush()


if __name__ == "__main__":
    sys.exit(main())
