"""Lists and dicts that a loop writes to: carried as values, written back behind it.

    while h.norm() > 1:             inside, `grid` and `grid[0]` hold what the copies of this trip hold;
        grid[0][1] = h              behind the loop the same two lists get what the last copies held

A trip may put another list in the place of an inner one (`grid[0] = [h, h]`). Behind the loop there is another one,
too, and the old one is as it was; where the loop makes no trip, the two are one in eager. So neither may be written to
from then on (instances.note_replaced).
"""

from __future__ import annotations

from typing import Any

from autograph_torch.runtime import notes
from autograph_torch.runtime.grown import is_grown
from autograph_torch.runtime.instances import note_replaced
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.structure import containers_in, is_copied, is_in, write_back
from autograph_torch.runtime.tuples import tuple_of

Values = tuple[Any, ...]
Path = tuple[Any, ...]


def plain_containers(values: Values) -> Values:
    """The lists and dicts among values and in tuples; not those inside of other lists and dicts."""
    found: Values = ()
    for k in range(len(values)):
        if isinstance(values[k], tuple):
            found += plain_containers(values[k])
        elif is_copied(values[k]):
            found += (values[k],)
    return found


def plain_inside(containers: Values) -> Values:
    """These lists and dicts, and all that are inside of them."""
    return tuple([one for container in containers for one in containers_in(container)])


def outermost(containers: Values) -> Values:
    """Each once, without those that are inside of others."""
    inner: Values = ()
    for k in range(len(containers)):
        inner += containers_in(containers[k])[1:]
    found: Values = ()
    for k in range(len(containers)):
        if not is_in(containers[k], inner) and not is_in(containers[k], found):
            found += (containers[k],)
    return found


def check_apart(mutated: Values, others: Values) -> None:
    """Refuse when a list or dict in `mutated` is there twice, or in `others`, too: each would be a copy of its own."""
    written: Values = ()
    for one in containers_in(mutated):
        if is_in(one, written):
            _refuse_second_name()
        written += (one,)
    for one in containers_in(others) if written else ():
        if is_in(one, written):
            _refuse_second_name()


def _refuse_second_name() -> None:
    refuse(
        "AG206",
        "a loop writes to a list or dict, and uses it by another name, too",
        "use one name for it in the loop, or copy it before",
    )


def begin_trip(site: str, copies: Values, initial: Values, state: Values) -> None:
    """A trip begins with these containers and this state; the loop, with the initial one.

    (Noted by the tracer, capture/replacing.py.)
    """


def begin_test(initial: Values, state: Values) -> None:
    """A test begins with this state. (Noted by the tracer.)"""


def end_loop(site: str) -> None:
    """Behind a loop: objects that it has begun with, written to and replaced may not be used. (Done by the tracer.)"""


def end_trip(site: str, copies: Values, others: Values) -> None:
    """At the end of a trip: which of the inner containers are others now, and that `others` leads to none of them.

    (Noted by the tracer.)
    """


def note_handed_on(site: str, after: Any) -> None:
    """At the end of a trip: which objects may be those that it began with. (Noted by the tracer.)"""


def note_kept(site: str, sure: bool, before: Any, after: Any) -> None:
    """Behind a loop: which objects may be those that it began with, all where it may make no trip (not `sure`).

    (Noted by the tracer: once one of the two is written to, the other may not be used.)
    """


def write_back_carried(site: str, originals: Values, values: Values) -> None:
    """Give containers from before a loop the contents that they have behind it."""
    replaced = notes.replaced(site)
    for k in range(len(originals)):
        _write_back(originals[k], values[k], replaced, (k,))


def _write_back(original: Any, new: Any, replaced: tuple[Path, ...], path: Path) -> Any:
    """Containers inside stay the objects that they were, unless trips put others in their places."""
    if is_grown(new):
        return new
    if path in replaced:
        note_replaced(original, new)
        return new
    if isinstance(original, list) and isinstance(new, list):
        kept = [
            _write_back(original[k], new[k], replaced, (*path, k)) if k < len(original) else new[k]
            for k in range(len(new))
        ]
        write_back(original, kept)
        return original
    if isinstance(original, dict) and isinstance(new, dict):
        entries = {
            key: _write_back(original[key], new[key], replaced, (*path, key)) if key in original else new[key]
            for key in new
        }
        write_back(original, entries)
        return original
    is_tuple = isinstance(original, tuple) and type(new) is type(original)
    if is_tuple and (type(original) is tuple or hasattr(original, "_fields")):
        parts = tuple([_write_back(original[k], new[k], replaced, (*path, k)) for k in range(len(new))])
        return parts if type(original) is tuple else tuple_of(type(original), parts)
    note_replaced(original, new)  # an object, which a trip may have put another one in the place of
    return new
