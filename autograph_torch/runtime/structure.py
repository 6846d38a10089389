"""What values look like, and values carried into torch's operators. All of it is traced by Dynamo.

spec_of(value)            what it looks like, in constants (see layout.py)
lift(value), lower(...)   numbers that depend on data, as tensors and back
copy_of, write_back       containers of their own to write to, and back into the originals
scratch_of                a container of the same kind, which stays in the body

Dynamo interprets this file bytecode by bytecode, for every leaf of both branches of every `if`. So loops run by
position (a loop variable would also give its name to nodes of the graph, and nested bodies would share it), there are
no generators, and what a tensor needs stands first.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from enum import Enum
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.runtime.either import number_flag, number_kinds
from autograph_torch.runtime.grown import is_grown
from autograph_torch.runtime.instances import attributed, extra_attributes, own_attributes
from autograph_torch.runtime.layout import NUMBER_DTYPES, Spec
from autograph_torch.runtime.open_contents import (
    is_open,
    is_open_here,
    open_content,
    open_contents,
    open_like,
    put_content,
)
from autograph_torch.runtime.picking import Choice
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.reordering import Order
from autograph_torch.runtime.tuples import is_of_torch
from autograph_torch.runtime.values import Hole, Maybe, Undefined

# Tensors met so far in a value, each with the path to its place.
Seen = list[tuple[torch.Tensor, tuple[int, ...]]]


CONSTANTS = (str, torch.dtype, torch.device, torch.layout, torch.memory_format)
OF_SETS = "a branch or loop on a tensor writes to a set that others may have, or that trips fill"
WITHOUT_SETS = "use a dict of flags: `seen = {key: False}` before, and `seen[key] = True`"
_DEPTH = 16  # objects that lead back to themselves have no end


def spec_of(
    value: Any,
    originals: tuple[tuple[Any, ...], ...] = (),
    handed: tuple[Any, ...] = (),
    seen: Seen | None = None,
    path: tuple[int, ...] = (),
    found: Spec | None = None,
) -> Spec:
    """Describe a value by constants. (For plain values the tracer fills in the answer.)

    A tensor or container that *is* one of `originals` (each with what stands in for it) is described as the same
    object; and so is a value without data (a function, a module) that is one of `handed`. With `seen`, a tensor
    from around the body is described as itself, and one that comes again in the value by the path of its first place.
    """
    return _spec_of(value, originals, handed, seen, path) if found is None else found


def _spec_of(
    value: Any,
    originals: tuple[tuple[Any, ...], ...],
    handed: tuple[Any, ...],
    seen: Seen | None,
    path: tuple[int, ...],
) -> Spec:
    if originals and isinstance(value, (torch.Tensor, list, dict)):
        for index in range(len(originals)):
            if is_in(value, originals[index]):
                return ("same", index, spec_of_object(value, index))
    if isinstance(value, torch.Tensor):
        return _tensor_spec(value) if seen is None else _seen_spec(value, seen, path)
    if isinstance(value, Enum) and number_of(value) >= 0:
        return ("member", number_of(value), type(value).__name__)  # also where it is a string or number
    if isinstance(value, (bool, int, float)):
        return _number_spec(value)
    if isinstance(value, tuple):
        specs = _specs(value, originals, handed, seen, path)
        if type(value) is tuple:
            return ("tuple", len(value), specs)
        if isinstance(value, torch.Size) or is_of_torch(type(value)):
            return ("named", type(value), specs)
        if hasattr(value, "_fields") and len(extra_attributes(value)) == 0:
            return ("named", type(value), specs)
    if value is None or isinstance(value, CONSTANTS):
        return ("const", value)
    if type(value) is list and is_grown(value):
        return ("thing", number_of(value), "list")
    if (type(value) is list or type(value) is dict) and is_open_here(value):
        return ("open contents", type(value), _specs(open_contents(value), originals, handed, seen, path))
    if seen is not None and (type(value) is list or type(value) is dict):
        number = number_of(value)
        if number >= 0:  # its tensors have places of their own only where another list may come in its place
            return ("outer", number, _plain_container_spec(value, originals, handed, [], path))
    if type(value) is OrderedDict:
        names = extra_attributes(value)
        if names:
            entries = _plain_container_spec(value, originals, handed, seen, (*path, 0))
            parts = _specs([getattr(value, name) for name in names], originals, handed, seen, (*path, 1))
            return ("attributed", (), (entries, ("dict", keyed(names), parts)))
    if type(value) is list or type(value) is dict or type(value) is OrderedDict:
        return _plain_container_spec(value, originals, handed, seen, path)
    if is_record(value):
        names = tuple([one.name for one in dataclasses.fields(value)])
        parts = tuple([getattr(value, name) for name in names])
        return ("record", (type(value), names), _specs(parts, originals, handed, seen, path))
    if isinstance(value, Undefined):
        return ("undefined", value.name)
    if isinstance(value, Maybe):
        return ("maybe", value.name, (spec_of(value.value),))
    if isinstance(value, Hole):
        return ("hole",)
    if isinstance(value, Choice):
        alternatives: Spec = ()
        for k in range(len(value.values)):
            alternatives += (spec_of(value.values[k], originals, handed, [], (*path, -1 - k)),)
        return ("choice", len(alternatives), alternatives)
    for index in range(len(handed)):
        if value is handed[index]:
            return ("object", index, type(value).__name__)
    number = number_of(value)
    if number >= 0:
        return ("thing", number, type(value).__name__)
    if type(value) is Counter:
        return ("counter", keyed(value.keys()), _specs(list(value.values()), originals, handed, seen, path))
    if type(value) is defaultdict and _is_class_or_none(value.default_factory):
        entries = _specs(list(value.values()), originals, handed, seen, (*path, 0))
        return ("defaultdict", value.default_factory, (("dict", keyed(value.keys()), entries),))
    if type(value) is deque:
        return ("deque", value.maxlen, _specs(list(value), originals, handed, seen, path))
    if type(value) is set and are_constant(value):
        return ("set", tuple([(type(member).__name__, member) for member in value]))
    attributes = own_attributes(value)
    if attributes is not None and len(path) < _DEPTH:
        parts = tuple([getattr(value, name) for name in attributes])
        return ("instance", (type(value), attributes), _specs(parts, originals, handed, seen, path))
    return refuse(
        "AG310",
        f"a branch or loop on a tensor cannot give a value of type {type(value).__name__}",
        "give tensors, Python numbers, or tuples, lists and dicts of them",
    )


def _plain_container_spec(
    value: Any,
    originals: tuple[tuple[Any, ...], ...],
    handed: tuple[Any, ...],
    seen: Seen | None,
    path: tuple[int, ...],
) -> Spec:
    if type(value) is list:
        return ("list", len(value), _specs(value, originals, handed, seen, path))
    kind = "dict" if type(value) is dict else "ordered"
    return (kind, keyed(value.keys()), _specs(list(value.values()), originals, handed, seen, path))


def keyed(keys: Iterable[Any]) -> tuple[tuple[Any, Any], ...]:
    """The keys of a dict, each with its form: 1, True and 1.0 are equal, and 0.0 and -0.0."""
    return tuple([(_form(key), key) for key in keys])


def _form(key: Any) -> Any:
    if type(key) is tuple:
        return tuple([_form(part) for part in key])
    return str(key) if type(key) is float else type(key).__name__


def _is_class_or_none(factory: Any) -> bool:
    return factory is None or isinstance(factory, type)


def are_constant(members: Any) -> bool:
    """Whether a set has only members of which equal ones are the same."""
    for member in members:  # noqa: SIM110  (as in `is_in`)
        if not isinstance(member, (str, int, bytes)):
            return False
    return True


def spec_of_object(value: Any, index: int) -> Spec:
    """Describe one of the originals; as no more than itself when it is open, or something in it is."""
    if isinstance(value, torch.Tensor):
        return spec_of(value)
    found = containers_in(value)
    for k in range(len(found)):
        if is_open(found[k]):
            return ("open", index)
    return spec_of(value)


def _specs(
    values: tuple[Any, ...] | list[Any],
    originals: tuple[tuple[Any, ...], ...],
    handed: tuple[Any, ...],
    seen: Seen | None,
    path: tuple[int, ...],
) -> Spec:
    found: Spec = ()
    for k in range(len(values)):
        if not originals and seen is None and isinstance(values[k], torch.Tensor):
            found += (_tensor_spec(values[k]),)
        else:
            found += (spec_of(values[k], originals, handed, seen, (*path, k)),)
    return found


def _seen_spec(tensor: torch.Tensor, seen: Seen, path: tuple[int, ...]) -> Spec:
    for k in range(len(seen)):
        if same_object(tensor, seen[k][0]):
            return ("again", seen[k][1], _tensor_spec(tensor))
    seen.append((tensor, path))
    number = number_of(tensor)
    return _tensor_spec(tensor) if number < 0 else ("outer", number, _tensor_spec(tensor))


def order_in_memory(tensor: torch.Tensor, found: Any = None) -> Order | None:
    """See reordering.order_of. A tensor that overlaps itself is refused: an operator hands out a copy.

    (Filled in by the tracer.)
    """
    return found  # type: ignore[no-any-return]


def is_of_a_trip(tensor: torch.Tensor, found: bool = False) -> bool:
    """Whether torch has taken a result of a loop out of those of all trips, of which only data tell the last.

    It has kept them for the gradients. (Filled in by the tracer.)
    """
    return found


def _tensor_spec(tensor: torch.Tensor) -> Spec:
    order = order_in_memory(tensor)
    sizes: tuple[int, ...] = ()  # -1 where only the run tells
    for k in range(tensor.ndim):
        sizes += (plain(tensor.shape[k]) if has_static_value(tensor.shape[k]) else -1,)
    spec = ("tensor", tensor.dtype, sizes, str(tensor.device), tensor.requires_grad, order)
    if tensor.ndim == 0 and number_flag(tensor) is not None:
        return ("either", number_kinds(tensor), (spec,))
    return spec


def is_dataclass(value: Any, found: bool | None = None) -> bool:
    """`dataclasses.is_dataclass`; the tracer fills in the answer, for torch 2.11 cannot give it for functions."""
    return dataclasses.is_dataclass(value) if found is None else found


def is_record(value: Any) -> bool:
    """Whether a value is no more than its fields: a dataclass of which nobody can tell a copy.

    That is a frozen one, or one that the body has made itself, without attributes beside the fields. Those that are
    dicts of their fields, too, as the outputs of models often are, put themselves together from the fields again.
    """
    if not is_dataclass(value) or isinstance(value, type):
        return False
    fields = dataclasses.fields(value)
    if isinstance(value, dict):
        filled = [one.name for one in fields if getattr(value, one.name) is not None]
        return list(value.keys()) == filled and all([one.init for one in fields]) and made_here(value)
    if hasattr(value, "__post_init__"):
        return False
    frozen = type(value).__dataclass_params__.frozen  # type: ignore[attr-defined]
    if not all([one.init for one in fields]) or not (frozen or made_here(value)):
        return False
    names = [one.name for one in fields]
    return all([name in names for name in extra_attributes(value)])


def made_here(value: Any, found: bool = False) -> bool:
    """Whether the body that is being traced has made an object. (Filled in by the tracer.)"""
    return found


def number_of(value: Any, found: int = -1) -> int:
    """A number for an object that was there before the body; -1 for others. (Filled in by the tracer.)"""
    return found


def same_object(value: Any, other: Any, found: bool | None = None) -> bool:
    """`value is other`; the tracer fills in the answer: torch 2.11 cannot give it for containers, and tensors are the
    same when one stands for the other in a body (runtime/outside.py).
    """
    return value is other if found is None else found


def _number_spec(value: bool | int | float) -> Spec:
    if has_static_value(value):  # asked first: a question about a number may put a guard on it
        return ("const", plain(value))
    if isinstance(value, bool):
        return ("number", "bool")
    return ("number", "int" if isinstance(value, int) else "float")


def plain(number: Any) -> Any:
    """A number that a guard has settled, as Python's own. (The tracer's hook puts it in place of the symbol.)"""
    return number


def lift(value: Any) -> Any:
    """A number that depends on data as a tensor: torch's operators refuse to close over floats and truth values."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, (bool, float)) and not has_static_value(value):
        spec = _number_spec(value)
        return torch.scalar_tensor(value, dtype=NUMBER_DTYPES[spec[1]])
    return lift_all(value) if has_numbers(value) else value


def has_numbers(value: Any, found: bool | None = None) -> bool:
    """Whether a tuple has numbers in it that depend on data, and that `lift` makes tensors.

    (The tracer fills in the answer where it can.) A list stays itself, for somebody may write to it: the tracer finds
    the numbers in it (capture/lifting.py).
    """
    if found is not None:
        return found
    if not isinstance(value, tuple) or hasattr(value, "_fields"):
        return False
    for k in range(len(value)):
        if isinstance(value[k], (bool, float)):
            if not has_static_value(value[k]):
                return True
        elif has_numbers(value[k]):
            return True
    return False


def lift_all(values: tuple[Any, ...] | list[Any]) -> tuple[Any, ...]:
    """Each value lifted."""
    lifted: tuple[Any, ...] = ()
    for k in range(len(values)):
        lifted += (values[k] if isinstance(values[k], torch.Tensor) else lift(values[k]),)
    return lifted


def lower(lifted: Any, original: Any) -> Any:
    """Inside the operator: the number again."""
    if isinstance(original, torch.Tensor):
        return lifted
    if isinstance(lifted, torch.Tensor):
        # A copy: the tensor itself remembers the symbol it was made of, which Inductor does not know in here.
        return lifted.clone().item()
    return lower_all(lifted, original) if has_numbers(original) else lifted


def lower_all(lifted: tuple[Any, ...] | list[Any], originals: tuple[Any, ...] | list[Any]) -> tuple[Any, ...]:
    """Each value lowered."""
    lowered: tuple[Any, ...] = ()
    for k in range(len(lifted)):
        lowered += (lifted[k] if isinstance(originals[k], torch.Tensor) else lower(lifted[k], originals[k]),)
    return lowered


Pairs = list[tuple[Any, Any]]


def copy_of(value: Any, pairs: Pairs) -> Any:
    """Containers of its own to write to; `pairs` gets every list and dict inside, each with its copy.

    What a branch does to them stays in the branch until it is written back. (That a deque, or a dict that makes missing
    items, is written to, the first trace of a body tells: capture/container_writes.py.)
    """
    if not isinstance(value, (list, dict, tuple)):
        return value
    own = is_copied(value)
    if own:
        known = copy_in(value, pairs, None)
        if known is not None:
            return known  # another name of it, or another place where it is
    if own and is_open(value):
        added: Any = [] if isinstance(value, list) else {}
        open_like(added, value)
        pairs.append((value, added))
        return added
    if own and isinstance(value, list):
        items: list[Any] = []
        pairs.append((value, items))
        items.extend(copies_of(value, pairs))
        return items
    if own:
        entries: dict[Any, Any] = OrderedDict() if type(value) is OrderedDict else {}
        pairs.append((value, entries))
        entries.update({key: copy_of(value[key], pairs) for key in value})
        if type(value) is OrderedDict:
            attributed(entries, {name: getattr(value, name) for name in extra_attributes(value)})
        return entries
    if type(value) is tuple:  # others are types of their own
        return copies_of(value, pairs)
    return value


def scratch_of(values: tuple[Any, ...], pairs: Pairs) -> tuple[Any, ...]:
    """A copy of each for a body that keeps it: a set, a deque, or a dict that makes missing items stays what it is."""
    copies: tuple[Any, ...] = ()
    for k in range(len(values)):
        copies += (_scratch(values[k], pairs),)
    return copies


def _scratch(value: Any, pairs: Pairs) -> Any:
    if type(value) is set:
        members = value.copy()
        pairs.append((value, members))
        return members
    if type(value) is deque:
        items = deque([copy_of(value[k], pairs) for k in range(len(value))], value.maxlen)
        pairs.append((value, items))
        return items
    if type(value) is Counter:
        entries: Any = Counter()
    elif type(value) is defaultdict:
        entries = defaultdict(value.default_factory)
    else:
        return copy_of(value, pairs)
    for key in value:  # a Counter's `update` adds
        entries[key] = copy_of(value[key], pairs)
    return entries


def note_copies(pairs: Pairs) -> None:
    """In the body under way, lists and dicts from around are written to as these copies. (Noted by the tracer.)"""


def is_copied(value: Any) -> bool:
    """Whether a value is a list or dict that a plain one stands for while a body writes to it.

    Raises:
        CaptureError: it is a dict of the caller that makes missing items, for which no plain one can stand.
    """
    if not isinstance(value, (list, dict)) or is_grown(value):
        return False
    makes_items = type(value) is defaultdict or hasattr(type(value), "__missing__")  # torch 2.11 asks no class
    if makes_items and is_from_caller(value):
        refuse(
            "AG206",
            f"a branch or loop on a tensor writes to a {type(value).__name__} from outside of the function",
            "copy it into a dict before, and back afterwards",
        )
    return not makes_items


def refuse_sets(mutated: tuple[Any, ...]) -> None:
    """Refuse to write to a set from around a body. (Where nobody else has it, the next trace gives each path its own.)

    Raises:
        CaptureError: one of the objects is a set.
    """
    for k in range(len(mutated)):
        if isinstance(mutated[k], set):
            refuse("AG310", OF_SETS, WITHOUT_SETS)


def is_from_caller(value: Any, found: bool = False) -> bool:
    """Whether a dict was there before the function under trace. (Filled in by the tracer.)"""
    return found


def copies_of(
    values: tuple[Any, ...] | list[Any], pairs: Pairs, found: tuple[Any, ...] | None = None
) -> tuple[Any, ...]:
    """A copy of each. (The tracer makes them where it can.)"""
    if found is not None:
        return found
    copies: tuple[Any, ...] = ()
    for k in range(len(values)):
        copies += (copy_of(values[k], pairs),)
    return copies


def is_in(value: Any, objects: tuple[Any, ...], found: bool | None = None) -> bool:
    """Whether a value is one of these very objects. (The tracer fills in the answer where it can.)"""
    if found is not None:
        return found
    for k in range(len(objects)):  # noqa: SIM110  (a generator costs the tracer more)
        if same_object(value, objects[k]):
            return True
    return False


def copy_in(value: Any, pairs: Pairs, otherwise: Any) -> Any:
    """What a branch finds for `value`: the copy, when it is a container that has one."""
    for original, copy in pairs:
        if same_object(value, original):
            return copy
    return otherwise


def content_of(container: Any) -> Any:
    """What is in a container, as a value that is not the container itself."""
    if is_open(container):
        return open_content(container)
    return list(container) if isinstance(container, list) else dict(container)


def containers_in(value: Any, found: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
    """A value and what is in it, as far as they are lists and dicts. (The tracer fills in the answer where it can.)"""
    return _containers_in(value) if found is None else found


def _containers_in(value: Any) -> tuple[Any, ...]:
    if isinstance(value, (list, dict)) and is_open(value):
        return (value,)
    inner: tuple[Any, ...] = ()
    if isinstance(value, dict):
        for key in value:
            inner += containers_in(value[key])
    elif isinstance(value, (list, tuple)):
        for k in range(len(value)):
            inner += containers_in(value[k])
    return (value, *inner) if isinstance(value, (list, dict)) else inner


def tensors_in(value: Any, found: tuple[torch.Tensor, ...] | None = None) -> tuple[torch.Tensor, ...]:
    """The tensors in nested lists, dicts and tuples. (The tracer fills in the answer where it can.)"""
    return _tensors_in(value) if found is None else found


def _tensors_in(value: Any) -> tuple[torch.Tensor, ...]:
    if isinstance(value, torch.Tensor):
        return (value,)
    if isinstance(value, Choice):
        return tensors_in(value.values)
    if is_grown(value):  # copies of what has been appended, in columns of their own
        return ()
    if isinstance(value, (list, dict)) and is_open(value):
        return tensors_in(open_contents(value)) if is_open_here(value) else ()
    if isinstance(value, dict):
        return tuple(one for key in value for one in tensors_in(value[key]))
    if isinstance(value, (list, tuple)):
        return tuple(one for k in range(len(value)) for one in tensors_in(value[k]))
    return ()


def write_back(original: Any, new: Any) -> None:
    """Make the original container look like the copy that was written to, so that every alias sees it."""
    if not isinstance(new, (list, dict)) or is_open(original):
        put_content(original, new)
    elif isinstance(original, list):
        original.clear()
        original.extend(new)
    elif isinstance(original, dict):
        original.clear()
        for key in new:  # a Counter's `update` adds
            original[key] = new[key]
