"""The search for a graph of a function for all data: where it begins, how long it may take, what it has come to.

Each attempt learns from the one before (capture/attempts.py). A call with other sizes or other Python values is traced
anew; its search begins with what the one before has ended with, which mostly is all it takes:

    f(torch.ones(3))        attempts 1, 2, 3: a graph
    f(torch.ones(4))        attempt 3: a graph

Where a graph for one path is the next to try, it is tried after a while.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from types import CodeType
from weakref import WeakKeyDictionary

from autograph_torch.capture.again import frame_under_way
from autograph_torch.capture.attempts import Attempt
from autograph_torch.capture.choices import is_of_one_type
from autograph_torch.capture.observed_data import can_run_again
from autograph_torch.capture.one_path import can_follow
from autograph_torch.diagnostics import Diagnostic
from autograph_torch.runtime.notes import TOO_LONG

_SECONDS = 20  # of computing, that one search may take
_SECONDS_IN_ALL = 40  # that those of one function may take


@dataclass
class Search:
    """One search, or several of one function.

    attempt: the one under way, or the last.
    refused: what the last search has ended with; None where it has found a graph.
    seconds: how long they have taken, in processor time.
    """

    attempt: Attempt = field(default_factory=Attempt)
    refused: Diagnostic | None = None
    seconds: float = 0.0

    def begin(self) -> float:
        """Begin with what is known; the time it is."""
        now = time.process_time()
        until = now + min(_SECONDS, _SECONDS_IN_ALL - self.seconds) if can_follow() else None
        self.attempt = replace(self.attempt, forms={}, unread=set(), until=until)
        return now

    def end(self, begun: float, refused: Diagnostic | None) -> None:
        """Remember what it has come to."""
        self.seconds += time.process_time() - begun
        self.refused = refused

    @property
    def has_learned(self) -> bool:
        """Whether it begins with what an earlier one has learned."""
        return replace(self.attempt, until=None) != Attempt()

    @property
    def takes_too_long(self) -> bool:
        """Whether another one would be in vain: it is time for a path."""
        return self.refused is not None and self.refused.message == TOO_LONG and can_follow()


# Codes are equal that say the same in the same lines: in two cells of a notebook, but in two files as well.
_searches: WeakKeyDictionary[CodeType, dict[tuple[str, tuple[bool, ...]], Search]] = WeakKeyDictionary()


def search_of(code: CodeType) -> Search:
    """The searches for a function so far, of those that may try the same."""
    may_try = (can_follow(), can_run_again(), frame_under_way() is not None, is_of_one_type())
    return _searches.setdefault(code, {}).setdefault((code.co_filename, may_try), Search())
