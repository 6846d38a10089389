"""What a failed trace tells about the program, and how the next one makes use of it.

Eighteen things can be told from a failure only:

- an `if` whose branches give values of different types, or objects that others see and write to. What follows such
  an `if` moves into both of its branches, where each side keeps its own. (A loop whose first trip changes a type makes
  that trip in an `if`: passes/splits.py. A list that one way out of a loop leaves longer than another is followed to
  the end on each: analysis/owned.py. And an attribute that the class has is then set where it stands:
  passes/attributes.py.)

    scale = 0                              if t > 0:
    if t > 0:                                  scale = f(t)
        scale = f(t)                           return x + scale
    return x + scale                       else:
                                               scale = 0
                                               return x + scale

- an exception that data decide on, and that the function itself may handle (passes/handlers.py), or leave to Python
  (capture/again.py).

- a property, or another attribute for which the class has code of its own: it is read and set where the text does
  (passes/attributes.py).

- a loop whose test has an effect: it becomes the first statement of the trips (passes/jumps.py).

- a name that is None on some paths through a loop (passes/nones.py).

- a function that gives values of different types: what follows its call moves into both branches (passes/splits.py).

- a list that grows in a loop whose number of trips depends on data (passes/growing.py).

- a number that a branch has picked from constants, and that torch or Python itself has to know: what follows moves into
  both branches, too (capture/chosen_numbers.py).

- a `squeeze` of which only data tell how many dimensions it leaves, and whose use asks (capture/squeezes.py).

- a size that depends on data, of which torch asks whether it is 0 or 1 (capture/assumed_sizes.py); when that has not
  been of use, any number that has to be known (capture/observed_data.py).

- a loop over rows whose number depends on data, where the text does not show it (`for row in rows`); a `filter` that
  data decide in.

- a list that data make longer and shorter, or that the ways to a point leave different (passes/bounded.py); and the
  form of its elements.

- `x.tolist()` of a vector whose length data tell (runtime/growing.py).

- an element of a list whose position data tell (passes/positions.py).

- a block of torch.utils.checkpoint in which data decide, on one path (capture/checkpoints.py); so a hook of a tensor
  (capture/cut_at_hooks.py), or an autograd.Function (capture/applied_functions.py).

- tensors of one memory that cannot be set apart, for a third one overlaps with both (capture/separate_memories.py).

- a function that torch keeps out of traces by a list of its own, or a gradient that is computed inside; torch has
  switches for them, which do harm elsewhere. So have integers made of floats (capture/whole_numbers.py).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from autograph_torch.analysis.told import LINES, Told
from autograph_torch.capture.again import frame_under_way
from autograph_torch.capture.applied_functions import failed_function
from autograph_torch.capture.assumed_sizes import ASKED
from autograph_torch.capture.checkpoints import failed_checkpoint
from autograph_torch.capture.cut_at_hooks import failed_hook
from autograph_torch.capture.errors import LEFT_ALONE
from autograph_torch.capture.module_lists import SPECIALIZED  # said when a loop is unrolled, too
from autograph_torch.capture.observed_data import DEPENDS, can_run_again
from autograph_torch.capture.separate_memories import OVERLAPS
from autograph_torch.capture.squeezes import AMBIGUOUS
from autograph_torch.capture.taken_elements import SEES_WRITES
from autograph_torch.capture.whole_numbers import is_of_whole_number
from autograph_torch.diagnostics import CaptureError, Diagnostic
from autograph_torch.runtime.growing import UNKNOWN
from autograph_torch.runtime.notes import FORM, TOO_LONG
from autograph_torch.runtime.picked import PICKED
from autograph_torch.runtime.structure import OF_SETS

Line = tuple[str, int]

_LIMIT = 8  # traces of one function
_TYPES = ("AG310", "AG311", "AG312", "AG314")
_OF_TORCH = ("AG320", "AG321")
_HANDLED = "AG325"
_TEST = "the test of a loop prints, raises, draws random numbers, or writes"
_GRADIENTS = "trace_autograd_ops"
_COMPUTED = "is a property, or the class has other code for it"
_SPLIT = (
    "is an attribute of the class:",
    "Mutating a variable from outside the scope",
)
_REBINDS = "both writes to an object in place and rebinds its name"  # a list that a trip hands out of a branch
_OPEN = ("what is in a list or dict that the branches leave", "the branches give a list of")
_GROWS = ("in a loop whose number of trips depends on data", *_OPEN, _REBINDS)
_NONE = re.compile(r"give None and |and None$")
_CONSTANTS = re.compile(r"(a member of \w+|the Python str .*|None) and (a member of \w+|the Python str .*|None)$")
_OF_A_STRING = "subscripting 'str'"  # by a tensor
_INDEX = re.compile(r"[\w)\]'\"]\[")
_SEARCH = re.compile(r"\.(add|discard)\(|\bin\b")
_DEQUES = "the branches give a deque of"
_TOLIST = re.compile(r"\.tolist\(\)")
_SHORTER = re.compile(r"a list of (\d+) becomes one of (\d+) in a loop")
_CHANGES = re.compile(r"\.(pop|popleft|insert|appendleft|clear)\(|\]\s*[-+*/]?=[^=]|\bdel\b")
_BOUND = (OF_SETS, SEES_WRITES)
_SKIPPED = ("marked as skipped", "function marked as skipped")


@dataclass(frozen=True)
class Attempt:
    """What is known before a trace.

    splits, growing, bounded, nones, raises, tests, computed, positions: places (file, line), each as the lines of
        `Told`.
    picks: whether data may pick strings, members of enumerations and None, and tests on them are tests on data.
    enter_skipped: whether torch's list of functions that are kept out of traces is to be ignored.
    trace_gradients: whether torch.autograd.grad and backward become part of the graph.
    whole: whether integers made of floats have symbols of their own.
    known_floats: whether floats among the arguments are constants of the graph. Guards on them compute in another order
        than the program, and may fail for the call that they come from.
    shared_memories: whether tensors of one memory share it in the trace though they have no element in common.
    checked_squeezes: whether sizes that `squeeze` drops for some data are checked when the graph runs.
    assumed_sizes: whether sizes of which torch asks are taken to be neither 0 nor 1, which the graph checks.
    observed_data: whether numbers that have to be known are taken to be what they are in this call, which it checks.
    one_path: whether the trace follows the path of the call under way (capture/one_path.py).
    known_numbers: whether on that path numbers that are read from data are what they are in this call.
    plain_checkpoints: places of torch.utils.checkpoint whose blocks are called without, on one path.
    cut_hooks: places where hooks are registered that are called where their gradient is computed, on one path.
    plain_functions: places where an autograd.Function is applied whose methods are followed as others, on one path.
    listed: whether `x.tolist()` of a vector whose length data tell is a list of that length.
    first_trips: whether loops that lists grow in make their first trip in the graph's loop, too.
    in_python: whether calls that come to an exception leave all handlers to Python (capture/again.py).
    settled: whether a result that is a number on some paths and a tensor on others may raise when it is a number.
    lists_read: the lists of the caller, as Python expressions, that are looked into as soon as they are met.
    may_bound: whether lists may be `bounded`: it has not been tried in vain.
    forms: the elements of lists that data make longer and shorter, as far as traces have told (filled by them).
    unread: the lists of the caller that bodies have added to without looking into them (filled by traces).
    until: when to give up, in processor time of the process.
    instead: what is left to try when this leads nowhere: a loop that a list grows in may be followed trip by trip,
        an exception may be left to Python.
    """

    splits: frozenset[tuple[str, int]] = frozenset()
    growing: frozenset[tuple[str, int]] = frozenset()
    bounded: frozenset[tuple[str, int]] = frozenset()
    nones: frozenset[tuple[str, int]] = frozenset()
    raises: frozenset[tuple[str, int]] = frozenset()
    tests: frozenset[tuple[str, int]] = frozenset()
    computed: frozenset[tuple[str, int]] = frozenset()
    positions: frozenset[tuple[str, int]] = frozenset()
    enter_skipped: bool = False
    trace_gradients: bool = False
    picks: bool = False
    in_python: bool = False
    settled: bool = False
    whole: bool = False
    first_trips: bool = False
    known_floats: bool = False
    shared_memories: bool = False
    checked_squeezes: bool = False
    assumed_sizes: bool = False
    observed_data: bool = False
    one_path: bool = False
    known_numbers: bool = False
    plain_checkpoints: frozenset[tuple[str, int]] = frozenset()
    cut_hooks: frozenset[tuple[str, int]] = frozenset()
    plain_functions: frozenset[tuple[str, int]] = frozenset()
    listed: bool = False
    lists_read: frozenset[str] = frozenset()
    may_bound: bool = True
    forms: dict[str, Any] = field(default_factory=dict, compare=False)
    unread: set[str] = field(default_factory=set, compare=False)
    until: float | None = None
    instead: Attempt | None = None
    number: int = 1

    def after(self, error: CaptureError, callers: Mapping[Line, Line], numbers: list[Line]) -> Attempt | None:
        """The next attempt; None when there is nothing to be learned from the failure.

        callers: by the place of a branch, that of the call that is given its value.
        numbers: the places of branches that have picked the numbers that the error may be about.
        """
        if not self.unread <= self.lists_read:
            return replace(self, lists_read=self.lists_read | self.unread)
        if OVERLAPS in error.diagnostic.message and not self.shared_memories:
            return replace(self, shared_memories=True)
        if self.one_path:
            checkpoint = failed_checkpoint(error)
            if checkpoint is not None and checkpoint not in self.plain_checkpoints:
                return replace(self, plain_checkpoints=self.plain_checkpoints | {checkpoint})
            hook = failed_hook(error)
            if hook is not None and hook not in self.cut_hooks:
                return replace(self, cut_hooks=self.cut_hooks | {hook})
            function = failed_function(error)
            if function is not None and function not in self.plain_functions:
                return replace(self, plain_functions=self.plain_functions | {function})
            return self._switched(error.diagnostic)
        if error.diagnostic.message == TOO_LONG:
            return None
        if self.bounded and not self.forms:  # no list was one of those
            return self.instead
        if FORM in error.diagnostic.message:
            return self
        if self._may_bound(error):
            return self._bounding(
                (error.diagnostic.filename, error.diagnostic.line), self._unbounded(error, callers, numbers)
            )
        return self._unbounded(error, callers, numbers)

    def _unbounded(self, error: CaptureError, callers: Mapping[Line, Line], numbers: list[Line]) -> Attempt | None:
        """The next attempt, in which lists are what they have been."""
        if self.number >= _LIMIT:
            return None
        following = self._learned(error, callers)
        if following is None and error.diagnostic.code in _OF_TORCH:
            places = (place for line in numbers for place in (line, callers.get(line)))
            unsplit = next((place for place in places if place is not None and place not in self.splits), None)
            if unsplit is not None:
                return replace(self, splits=self.splits | {unsplit}, number=self.number + 1)
        if following is None and not self.picks and error.diagnostic.code in _TYPES:
            if _CONSTANTS.search(error.diagnostic.message) or any(word in error.diagnostic.message for word in _OPEN):
                return self._picking((error.diagnostic.filename, error.diagnostic.line))
        if following is None and not self.listed and SPECIALIZED in error.diagnostic.message:
            if _TOLIST.search(error.diagnostic.snippet):
                return replace(self, listed=True, number=self.number + 1)
        if following is None and self.instead is not None:
            tried = bool(self.bounded) or not self.may_bound
            return replace(self.instead, may_bound=self.instead.may_bound and not tried, number=self.number + 1)
        if following is None and self.listed and not self.observed_data:  # something needs the elements themselves
            return replace(self, listed=False, observed_data=can_run_again(), number=self.number + 1)
        if following is None and not self.assumed_sizes and ASKED.search(error.diagnostic.message):
            return replace(self, assumed_sizes=True, number=self.number + 1)
        if following is None and not self.observed_data and DEPENDS in error.diagnostic.message and can_run_again():
            return replace(self, assumed_sizes=False, observed_data=True, number=self.number + 1)
        return following

    def _may_bound(self, error: CaptureError) -> bool:
        """Whether a list may have to be rows of tensors: it gets shorter, or has been followed as one that grows."""
        found = error.diagnostic
        place = (found.filename, found.line)
        open_still = self.first_trips and place in self.growing and any(words in found.message for words in _OPEN)
        searched = SPECIALIZED in found.message and _SEARCH.search(found.snippet) is not None
        shrinks = _SHORTER.search(found.message)
        shorter = shrinks is not None and int(shrinks[2]) < int(shrinks[1])
        deques = _DEQUES in found.message and bool(place in self.splits or self.bounded)
        written = _CHANGES.search(found.snippet) is not None
        unknown = UNKNOWN in found.message and (written or place in self.growing)
        told = open_still or searched or shorter or deques or unknown
        told = told or any(words in found.message for words in _BOUND)
        return self.may_bound and place not in self.bounded and told

    def _bounding(self, place: Line, otherwise: Attempt | None) -> Attempt:
        """The next attempt, in which lists that change there are rows of tensors: what was tried for them is undone."""
        none: frozenset[Line] = frozenset()
        following = replace(self, bounded=self.bounded | {place}, splits=none, growing=none, nones=none, positions=none)
        instead = self.instead if self.bounded or otherwise is None else replace(otherwise, may_bound=False)
        number = self.number + 1 if self.bounded else 1
        return replace(following, picks=False, first_trips=False, instead=instead, number=number)

    def _picking(self, place: Line) -> Attempt:
        """The next attempt, in which data may pick constants: nothing else need be known of the place."""
        following = replace(self, picks=True, first_trips=False, instead=None, number=self.number + 1)
        return replace(following, splits=self.splits - {place}, growing=self.growing - {place})

    def _learned(self, error: CaptureError, callers: Mapping[Line, Line]) -> Attempt | None:
        found = error.diagnostic
        following = replace(self, number=self.number + 1)
        place = (found.filename, found.line)
        caller = callers.get(place)
        if place not in self.nones | self.splits and found.code in _TYPES and _NONE.search(found.message):
            instead = self.instead or replace(self, splits=self.splits | {place})
            return replace(self, nones=self.nones | {place}, instead=instead)
        grows = place not in self.growing and any(words in found.message for words in _GROWS)
        if grows and (found.code == "AG311" or place in self.splits or _REBINDS in found.message):
            if self.instead is None and place not in self.splits:
                following = replace(following, instead=replace(self, splits=self.splits | {place}))
            return replace(following, growing=self.growing | {place}, splits=self.splits - {place})
        if place in self.growing and not self.first_trips and any(words in found.message for words in _OPEN):
            return replace(following, first_trips=True)
        if found.code == _HANDLED and not self.in_python and frame_under_way() is not None:
            following = replace(following, instead=self.instead or replace(self, in_python=True))
        if found.code == _HANDLED and place not in self.raises:
            return replace(following, raises=self.raises | {place})
        if _TEST in found.message and place not in self.tests:
            return replace(following, tests=self.tests | {place})
        if _COMPUTED in found.message and place not in self.computed:
            return replace(following, computed=self.computed | {place})
        left_alone = any(words in found.message for words in LEFT_ALONE)
        concerned = found.code in _TYPES or left_alone or any(words in found.message for words in _SPLIT)
        over_rows = SPECIALIZED in found.message and found.snippet.lstrip().startswith("for ")
        if (concerned or over_rows) and place not in self.splits:
            return replace(following, splits=self.splits | {place})
        is_index = any(words in found.message for words in (SPECIALIZED, PICKED, _OF_A_STRING))
        if is_index and _INDEX.search(found.snippet) and place not in self.positions:
            return replace(following, positions=self.positions | {place})
        if found.code in _TYPES and caller is not None and caller not in self.splits:
            return replace(following, splits=self.splits | {caller})
        return self._switched(found)

    def _switched(self, found: Diagnostic) -> Attempt | None:
        """The next attempt, with a switch turned that concerns all of the trace."""
        following = replace(self, number=self.number + 1)
        if is_of_whole_number(found.message) and not self.whole:
            return replace(following, whole=True)
        if AMBIGUOUS in found.message and not self.checked_squeezes:
            return replace(following, checked_squeezes=True)
        if any(words in found.message for words in _SKIPPED) and not self.enter_skipped:
            return replace(following, enter_skipped=True)
        if _GRADIENTS in found.message and not self.trace_gradients:
            return replace(following, trace_gradients=True)
        return None

    def told_of(self, filename: str) -> Told:
        """What is known of the lines of a file."""
        lines = {name: _lines_in(filename, getattr(self, name)) for name in LINES}
        return Told(**lines, picks=self.picks, one_path=self.one_path)


ONE_PATH = Attempt(one_path=True, in_python=True, whole=True)  # of the call under way


def _lines_in(filename: str, places: frozenset[tuple[str, int]]) -> frozenset[int]:
    return frozenset(line for name, line in places if name == filename)


_under_way: list[Attempt] = []  # the innermost last


@contextlib.contextmanager
def under_way(attempt: Attempt) -> Iterator[None]:
    """While a trace makes use of what is known before it."""
    _under_way.append(attempt)
    try:
        yield
    finally:
        _under_way.pop()


def attempt_under_way() -> Attempt | None:
    """What the innermost trace knows, if one is under way."""
    return _under_way[-1] if _under_way else None
