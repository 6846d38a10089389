"""What a failed trace has told of the lines of a function (capture/attempts.py); the passes make use of it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

Lines = frozenset[int]
_NONE: Lines = frozenset()


@dataclass(frozen=True)
class Told:
    """Lines of a function, by what a trace has found there.

    splits: of `if` statements that need what follows in both branches, and of loops whose paths are told apart.
    growing: of loops that lists grow in, or of statements in such loops.
    bounded: of statements that make lists longer or shorter, or of such as cannot go on behind them.
    nones: of statements in loops that leave a name as None on some paths.
    raises: of exceptions and assertions that the function itself may handle.
    tests: of loops whose test has an effect.
    computed: of branches and loops that write to attributes for which classes have code of their own.
    positions: where data tell the position of an element of a list.
    picks: whether data may pick strings, and what is compared with one may be a tensor: no line, but all of the trace.
    one_path: whether the trace follows the path of one call: tests stay as they are.
    """

    splits: Lines = _NONE
    growing: Lines = _NONE
    bounded: Lines = _NONE
    nones: Lines = _NONE
    raises: Lines = _NONE
    tests: Lines = _NONE
    computed: Lines = _NONE
    positions: Lines = _NONE
    picks: bool = False
    one_path: bool = False

    def __bool__(self) -> bool:
        return any(getattr(self, one.name) for one in fields(self))

    def within(self, lines: Lines) -> Told:
        """What has been told of some lines alone."""
        return replace(self, **{name: getattr(self, name) & lines for name in LINES})


UNTOLD = Told()
LINES = tuple(one.name for one in fields(Told) if one.type == "Lines")
