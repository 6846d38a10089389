"""ag.while_steps and ag.for_steps: loops that data may leave early.

A step says how its trip ends: `loop.next(*state)` goes on, `loop.stop(*state)` is `break`, `loop.exit(value)` is
`return`. Over a short Python sequence the remaining trips move into the branch that goes on, so that nothing has to be
carried that one path does not have. Otherwise the loop becomes one torch.while_loop whose state holds how it ended.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.analysis.positions import UNROLL_LIMIT
from autograph_torch.runtime import notes
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.growing import ADVICE, is_among
from autograph_torch.runtime.iteration import Element, Once, Sequence, at_its_trip, check_end, end_trips, taken
from autograph_torch.runtime.iteration import staged as staged_sequence
from autograph_torch.runtime.logic import and_then
from autograph_torch.runtime.loop import run_with_writes
from autograph_torch.runtime.open_contents import is_open
from autograph_torch.runtime.outside import keep
from autograph_torch.runtime.picking import Choice
from autograph_torch.runtime.predicate import truth
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.values import EXIT, HOLE, NEXT, STOP, Hole, Outcome

State = tuple[Any, ...]
After = Callable[..., Any] | None

MOST_PATHS = 16  # through all trips of a loop, where each is followed to the end of the function


def never(*_: Any) -> Any:
    """What follows a loop that ends by `return` alone: nothing."""
    return HOLE


class Outcomes:
    """A loop whose steps tell how they ended: (how, value of `return`, state)."""

    def next(self, *state: Any) -> Any:
        return Outcome(NEXT, HOLE, state)

    def stop(self, *state: Any) -> Any:
        return Outcome(STOP, HOLE, state)

    def exit(self, value: Any) -> Any:
        return Outcome(EXIT, value, HOLE)


class Continuations:
    """A loop over known elements whose steps run what is left of it, when they end inside a branch of the graph."""

    def __init__(self, items: list[Element], step: Callable[..., Any], after: After, position: int, depth: int) -> None:
        self._items = items
        self._step = step
        self._after = after
        self._position = position
        self._depth = depth

    def _in_branch(self) -> bool:
        return notes.body_depth() > self._depth

    def next(self, *state: Any) -> Any:
        if not self._in_branch():
            return Ended(NEXT, state)
        return remaining(self._items, self._step, self._after, self._position + 1, state)

    def stop(self, *state: Any) -> Any:
        return _finish(self._after, state) if self._in_branch() else Ended(STOP, state)

    def exit(self, value: Any) -> Any:
        return value if self._in_branch() else Ended(EXIT, value)


class Ended:
    """How a step ended that Python alone decided."""

    def __init__(self, how: int, value: Any) -> None:
        self.how = how
        self.value = value


def for_steps(
    iterable: Any,
    step: Callable[..., Any],
    carry: State,
    mutated: State = (),
    reads: State = (),
    after: After = None,
    joined: bool = False,
    ways: int = 1,
) -> Any:
    """A `for` loop that data may leave early.

    Args:
        iterable: what to run over; ag.range where the number of trips may depend on data.
        step: `step(item, *state, loop)`, returns one of loop.next(*state), loop.stop(*state), loop.exit(value).
        carry, mutated, reads: as for ag.for_loop.
        after: what follows the loop up to the end of the function, when a step may return from it.
        joined: join the paths through a step that go on, instead of running the trips that are left in each: for steps
            with several such paths, which would make the graph twice as large with every trip, and for those that end
            inside of a `with`, or before a `finally`.
        ways: how many such paths there are, when they may give values of different types: they are joined only where
            the graph would become too large.

    Returns:
        The final state; with `after`, what the function returns.
    """
    state = (*carry, *mutated, *reads)
    keep(mutated)
    if isinstance(iterable, Once):
        return _one_trip(step, state, len(carry), len(reads), after)
    sequence = staged_sequence(iterable)
    if not torch.compiler.is_compiling() or (sequence is None and notes.on_one_path()):
        return _python_for(iterable, step, state, after)
    if sequence is None or (sequence.known and sequence.length <= UNROLL_LIMIT):
        items = taken(iterable if sequence is None else sequence)
        return _unrolled(items, step, after, len(carry), len(reads), state, joined or ways ** len(items) > MOST_PATHS)
    return _staged_for(sequence, step, state, len(carry), len(reads), after)


def while_steps(
    cond_fn: Callable[..., Any],
    step: Callable[..., Any],
    carry: State,
    mutated: State = (),
    reads: State = (),
    after: After = None,
) -> Any:
    """A `while` loop that data may leave early; as `for_steps`, with `step(*state, loop)` and a test of the state."""
    state = (*carry, *mutated, *reads)
    keep(mutated)
    loop = Outcomes()
    how: Any = NEXT
    value: Any = HOLE
    while True:
        flag = truth(cond_fn(*state))
        if isinstance(flag, torch.Tensor) or ((is_among(mutated) or notes.first_trips_in_graph()) and flag):
            break
        if not flag:
            return _finish(after, state)
        # Python knows that there is a trip: it runs outside the graph's loop and settles the types of the state.
        how, value, new = _ended(step, *state, loop)
        state = _handed_through(state, new, len(carry), len(reads))
        if not _is_symbolic(how):
            if how == NEXT:
                continue
            return value if how == EXIT else _finish(after, state)
        break
    notes.note_site("while", "torch.while_loop")

    def going_on(s: State) -> Any:
        return and_then(s[0] == NEXT, lambda: cond_fn(*s[2]))

    return _staged_steps(going_on, lambda s: _ended(step, *s, loop), how, value, state, len(carry), len(reads), after)


def _one_trip(step: Callable[..., Any], state: State, rebound: int, fixed: int, after: After) -> Any:
    """A block that is not a loop: how it ended is known only behind it, so its context does not cover what follows."""
    how, value, new = _ended(step, None, *state, Outcomes())
    state = _handed_through(state, new, rebound, fixed)
    if not _is_symbolic(how):
        return value if how == EXIT else _finish(after, state)
    return cond(how == EXIT, lambda v, _: v, lambda _, final: _finish(after, final), (value, state))


def _ended(step: Callable[..., Any], *arguments: Any) -> Any:
    """How a step ended whose ways meet at its end."""
    if not torch.compiler.is_compiling():
        return step(*arguments)
    notes.enter_step()
    outcome = step(*arguments)
    notes.leave_step()
    return outcome


def _handed_through(before: State, after: Any, rebound: int, fixed: int) -> Any:
    """The state after a step, with the `fixed` values to read as before: a branch in the step gives copies of them.

    So may be the lists and dicts that it writes to; what is in them has been written back.
    """
    count = len(before) - fixed
    if after is HOLE or rebound == len(before):
        return after
    written = [_written(before[k], after[k]) for k in range(rebound, count)]
    return (*after[:rebound], *written, *before[count:])


def _written(before: Any, after: Any) -> Any:
    """An object that a step writes to, behind the step."""
    if not isinstance(before, (list, dict)):
        return after
    if not is_open(before) and (isinstance(after, Choice) or is_open(after) or len(after) != len(before)):
        message = "a way through a trip leaves a list or dict longer, in a loop whose number of trips depends on data"
        refuse("AG311", message, ADVICE)
    return before


def _is_symbolic(how: Any) -> bool:
    """Whether only data can tell how a step ended."""
    return isinstance(how, torch.Tensor)


def _python_for(iterable: Any, step: Callable[..., Any], state: State, after: After) -> Any:
    loop = Outcomes()
    for item in iterable:
        how, value, state = step(item, *state, loop)
        if how == STOP:
            break
        if how == EXIT:
            return value
    return _finish(after, state)


def _unrolled(
    items: list[Element], step: Callable[..., Any], after: After, rebound: int, fixed: int, state: State, joined: bool
) -> Any:
    """A loop over elements that have been taken before the first trip (capture/choices.py: it hands on the result)."""
    if joined:
        result = _joined(items, step, after, 0, rebound, fixed, state)
    else:
        result = remaining(items, step, after, 0, state)
    end_trips()
    return result


def remaining(items: list[Element], step: Callable[..., Any], after: After, position: int, state: State) -> Any:
    """The trips from `position` on, and what follows the loop."""
    depth = notes.body_depth()
    while position < len(items):
        loop = Continuations(items, step, after, position, depth)
        result = step(at_its_trip(items[position]), *state, loop)
        if not isinstance(result, Ended):
            return result
        if result.how == EXIT:
            return result.value
        state = result.value
        if result.how == STOP:
            break
        position += 1
    else:
        check_end(items)
    return _finish(after, state)


def _joined(
    items: list[Element], step: Callable[..., Any], after: After, position: int, rebound: int, fixed: int, state: State
) -> Any:
    """As `remaining`, where the paths that go on meet before the next trip."""
    loop = Outcomes()
    while position < len(items):
        how, value, new = _ended(step, at_its_trip(items[position]), *state, loop)
        state = _handed_through(state, new, rebound, fixed)
        position += 1
        if _is_symbolic(how):
            rest = functools.partial(_joined, items, step, after, position, rebound, fixed)
            return _going_on(how, value, state, rest, after)
        if how == EXIT:
            return value
        if how == STOP:
            break
    else:
        check_end(items)
    return _finish(after, state)


def _going_on(how: Any, value: Any, state: State, rest: Callable[[State], Any], after: After) -> Any:
    """What is left after a step that data has ended: `rest` of the state, or not."""

    def unless_stopped(_: Any, final: State) -> Any:
        return cond(how == STOP, lambda s: _finish(after, s), rest, (final,))

    if isinstance(value, Hole):  # torch 2.11 cannot ask whether a number of the graph is an object
        return unless_stopped(value, state)
    return cond(how == EXIT, lambda v, _: v, unless_stopped, (value, state))


def _finish(after: After, state: State) -> Any:
    return state if after is None else after(*state)


def _staged_for(
    sequence: Sequence, step: Callable[..., Any], state: State, rebound: int, fixed: int, after: After
) -> Any:
    length = sequence.length
    notes.note_site("for", "torch.while_loop")
    loop = Outcomes()

    def counted(numbered: State) -> Any:
        """One trip; the position in front of the state."""
        k = numbered[0]
        how, value, new = _ended(step, sequence.item(k), *numbered[1:], loop)
        return how, value, HOLE if new is HOLE else (k + 1, *new)

    def finish(k: Any, *final: Any) -> Any:
        return _finish(after, final)

    how: Any = NEXT
    value: Any = HOLE
    numbered: Any = (0, *state)
    while sequence.known and numbered[0] < length and not notes.first_trips_in_graph():
        how, value, new = counted(numbered)
        numbered = _handed_through(numbered, new, rebound + 1, fixed)
        if _is_symbolic(how):
            break
        if how == EXIT:
            return value
        if how == STOP:
            return _finish(after, numbered[1:])

    def going_on(s: State) -> Any:
        return and_then(s[0] == NEXT, lambda: s[2][0] < length)

    return _staged_steps(going_on, counted, how, value, numbered, rebound + 1, fixed, finish)


def _staged_steps(
    going_on: Callable[[State], Any],
    step: Callable[[State], Any],
    how: Any,
    value: Any,
    state: State,
    rebound: int,
    fixed: int,
    after: After,
) -> Any:
    """The trips that are left, as one loop over (how it ended, value of `return`, state)."""
    count = len(state)

    def flat(how: Any, value: Any, state: Any) -> State:
        ended = how if isinstance(how, torch.Tensor) else torch.scalar_tensor(how, dtype=torch.int64)
        return (ended, value, *([HOLE] * count if state is HOLE else state))

    def nested(s: State) -> State:
        return s[0], s[1], s[2:]

    begin = flat(how, value, state)
    entered = truth(going_on(nested(begin)))
    if entered is False:
        return _finish(after, state)

    def trip(s: State) -> State:
        before = nested(s)[2]
        how, value, new = step(before)
        return flat(how, value, _handed_through(before, new, rebound, fixed))

    how, value, state = nested(run_with_writes(lambda s: going_on(nested(s)), trip, begin, rebound + 2, fixed, entered))
    if isinstance(value, Hole):  # torch 2.11 cannot ask whether a number of the graph is an object
        return _finish(after, state)
    if after is never:
        return value
    return cond(how == EXIT, lambda v, _: v, lambda _, final: _finish(after, final), (value, state))
