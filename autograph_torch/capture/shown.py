"""Objects that the program shows: their text is made when the graph has run, by their own `__repr__` or `__str__`.

    raise ValueError(f"the parameters of {self} are not positive")

The object is taken apart into its attributes, as they are when it is shown, and the text is made of one that has them.

    print(meter)               print(str(meter)): `__str__` is traced, where it is shown
    print(f"now {meter}")      print("now {}".format(meter))

So it is where an object cannot be taken apart (`__slots__`, a module), and where its text may depend on more than that,
or changes something: `self.shown += 1`, or a variable of the module.

Private: UserDefinedObjectVariable and the table of side effects. tests/capture/test_shown.py fails clearly when torch
changes what this leans on.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import inspect
import logging
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo import variables
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.source import AttrSource

from autograph_torch.capture.policy import LIBRARIES, is_torch
from autograph_torch.runtime.tuples import FIELD, shows_elements

_WRITES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL", "DELETE_ATTR", "DELETE_SUBSCR", "DELETE_GLOBAL")
_WRITING = frozenset(
    "append appendleft extend extendleft insert pop popleft popitem remove discard clear add update setdefault sort "
    "reverse rotate write send throw setattr delattr next print input open exec eval vars globals".split()
)
_FIELDS = (  # what reads a field of an object, of a named tuple, and the name or value of a member of an enumeration
    types.GetSetDescriptorType,
    FIELD,
    types.DynamicClassAttribute,
)
_KNOWN_MODULES = LIBRARIES - {"random"}
_OTHERS = (BaseException, logging.Logger, logging.LoggerAdapter)  # which are shown in other ways


def attributes_of_shown(parent: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Fill in the attributes of an object that is its attributes, and whose class makes text of them in Python."""
    item = given["value"]
    item = item.realize()
    if not _can_be_taken_apart(item) or not _only_reads(item.python_type()):
        return {}
    # By name: what a program has set last, it shows; what it has deleted, it does not.
    names = dict.fromkeys(vars(item.value) if item.source is not None else ())
    if item.source is not None:  # attributes that are read have guards of their own; none is to be added
        install_guard(AttrSource(item.source, "__dict__").make_guard(GuardBuilder.SEQUENCE_LENGTH))
    written = parent.output.side_effects.store_attr_mutations.get(item, {})
    for name, value in written.items():
        names[name] = None
        if isinstance(value, variables.DeletedVariable):
            del names[name]
    found = [variables.ConstantVariable.create(name) for name in names]
    return {"found": variables.TupleVariable(found)}


def shown_now(_: Any, given: dict[str, Any]) -> dict[str, Any]:
    as_text = given["as_text"].as_python_constant() if "as_text" in given else False
    return {"known": variables.ConstantVariable.create(is_shown_now(given["value"], as_text))}


def is_shown_now(variable: Any, as_text: bool = False) -> bool:
    """Whether a value is an object whose text is to be made where it is shown, in the trace.

    `as_text`: by `str`; otherwise in any way.
    """
    item = variable.realize()
    if not isinstance(item, variables.UserDefinedObjectVariable):
        return False
    kind: Any = item.python_type()
    if issubclass(kind, _OTHERS) or kind.__module__.startswith("autograph_torch."):
        return False
    methods = list(_methods_of_text(kind))
    own = methods[:1] if as_text else methods
    if not any(_is_of_program(method) for method in own):
        return False
    is_kept = _can_be_taken_apart(item) or issubclass(kind, (tuple, enum.Enum))
    return not (is_kept and _only_reads(kind))


def _can_be_taken_apart(item: Any) -> bool:
    if not isinstance(item, variables.UserDefinedObjectVariable) or not _has_own_text(item.python_type()):
        return False
    # A copy of the caller's object has another address.
    return item.source is None or isinstance(item.python_type().__repr__, types.FunctionType)


def _methods_of_text(kind: Any) -> Iterator[Any]:
    """What `str` calls, and what else makes a text of an object; dataclasses look out for objects in themselves."""
    yield inspect.unwrap(kind.__repr__ if kind.__str__ is object.__str__ else kind.__str__)
    yield inspect.unwrap(kind.__repr__)
    yield inspect.unwrap(kind.__format__)


def _is_of_program(method: Any) -> bool:
    return isinstance(method, types.FunctionType) and not is_torch(method.__code__) and not _is_known(method)


def _is_known(method: Any) -> bool:
    """Whether a method is what Python gives named tuples or enumerations."""
    return shows_elements(method) or getattr(method, "__module__", "") == "enum"


@functools.lru_cache(maxsize=1024)
def _only_reads(kind: Any) -> bool:
    """Whether what makes texts of the objects of a class shows itself to change nothing, and to read them alone."""
    seen: set[types.CodeType] = set()
    methods = [method for method in _methods_of_text(kind) if isinstance(method, types.FunctionType)]
    return all(_reads_alone(kind, method, seen) for method in methods if not _is_known(method))


def _reads_alone(kind: type, function: types.FunctionType, seen: set[types.CodeType]) -> bool:
    if function.__code__ in seen:
        return True
    seen.add(function.__code__)
    is_plain = set(function.__code__.co_freevars) <= {"__class__"}
    return is_plain and all(_is_read(kind, one, function.__globals__, seen) for one in _instructions(function.__code__))


def _instructions(code: types.CodeType) -> Iterator[dis.Instruction]:
    yield from dis.get_instructions(code)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _instructions(inner)


def _is_read(kind: type, instruction: dis.Instruction, names: dict[str, Any], seen: set[types.CodeType]) -> bool:
    name = instruction.argval
    if instruction.opname in _WRITES or (isinstance(name, str) and name in _WRITING and "LOAD" in instruction.opname):
        return False
    if instruction.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")):
        found = names.get(name, getattr(builtins, name, None))
        module = found.__name__ if isinstance(found, types.ModuleType) else getattr(found, "__module__", None) or ""
        if module.partition(".")[0] in _KNOWN_MODULES:
            return True
        return isinstance(found, types.FunctionType) and _reads_alone(kind, found, seen)
    if instruction.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER")):
        is_field = name in getattr(kind, "__dataclass_fields__", ())  # each object has its own
        found = None if is_field else inspect.getattr_static(kind, name, None)
        found = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
        if isinstance(found, types.FunctionType):
            return _reads_alone(kind, found, seen)
        return found is None or inspect.isroutine(found) or isinstance(found, _FIELDS)
    return True


def _has_own_text(kind: type) -> bool:
    """Whether the text of an object of a class is made by Python code of attributes that are in its `__dict__`."""
    if issubclass(kind, (torch.nn.Module, logging.Logger, logging.LoggerAdapter)):
        return False  # they show constants, and may hold very much
    methods = (kind.__repr__, kind.__str__, kind.__format__)
    if not any(isinstance(method, types.FunctionType) for method in methods):
        return False
    slots = any(getattr(one, "__slots__", ()) for one in kind.__mro__)
    try:
        return not slots and isinstance(vars(object.__new__(kind)), dict)
    except TypeError:  # a class that is more than its attributes: a list, an exception
        return False
