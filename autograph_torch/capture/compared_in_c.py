"""What C code says of objects from outside (which is less, which are equal, what is the hash), every call asks anew.

    if day != self.last: ...            dates, times, timedeltas
    price > limit; {price: 1}           Decimals
    header == b"RIFF"                   bytearrays, memoryviews
    seed = hash(owner)                  of which object it is, where its class says nothing else

Dynamo knows the type of such an object, asks the C method while it traces, and takes the answer for that of all calls.
In plain torch.compile, too (torch 2.13). Here the answer is guarded, not the object: another day that is later, too,
is no other trace. As keys they were told apart by identity.

Private: richcompare_impl (torch 2.11 has none) and hash_impl of UserDefinedObjectVariable, its `_base_vt`,
get_real_python_backed_value, and object_protocol.generic_hash.
tests/capture/test_compared_in_c.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from torch._dynamo import variables
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, TensorVariable, UserDefinedObjectVariable
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.dynamo_names import expression_of
from autograph_torch.capture.later_calls import agree
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.refusal import raise_refusal

Method = Callable[..., Any]


@contextlib.contextmanager
def compared_in_c() -> Iterator[None]:
    """While this is in force, it does."""
    owners = (UserDefinedObjectVariable, UserDefinedObjectVariable, getattr(variables, "object_protocol", None))
    names = {"richcompare_impl": _comparing, "hash_impl": _hashing, "generic_hash": _telling_hash}
    with contextlib.ExitStack() as stack:
        for owner, (name, changed) in zip(owners, names.items(), strict=True):
            if hasattr(owner, name):
                stack.enter_context(patched(owner, **{name: changed(getattr(owner, name))}))
        yield


def _comparing(compare: Method) -> Method:
    def richcompare_impl(self: Any, tx: Any, other: Any, op: str) -> Any:
        other = other.realize()
        if not answers_in_c(self, op):
            return compare(self, tx, other, op)
        if isinstance(other, SymNodeVariable) and not has_free_unbacked_symbols(other.sym_num):  # a size
            other = ConstantVariable.create(other.evaluate_expr())
        found = compare(self, tx, other, op)
        _guard_answer(op, self, other)
        return found

    return richcompare_impl


def _hashing(hash_of: Method) -> Method:
    def hash_impl(self: Any, tx: Any) -> Any:
        found = hash_of(self, tx)
        if answers_in_c(self, "__hash__"):
            _guard_answer("__hash__", self)
        return found

    return hash_impl


def _telling_hash(tell: Method) -> Method:
    """`hash(owner)`, the number; which objects are one key, capture/aliases.py asks."""

    def generic_hash(tx: Any, variable: Any) -> Any:
        found = tell(tx, variable)
        if _is_hashed_by_identity(variable) and _expression(variable) is not None:
            install_guard(variable.source.make_guard(GuardBuilder.ID_MATCH))
        return found

    return generic_hash


def _is_hashed_by_identity(variable: Any) -> bool:
    if not isinstance(variable, UserDefinedObjectVariable):
        return False
    return inspect.getattr_static(type(variable.value), "__hash__", None) is object.__hash__


def answers_in_c(variable: Any, method: str) -> bool:
    """Whether it is an object of whose value the method of its class, in C, says something; `object`'s does not."""
    if not isinstance(variable, UserDefinedObjectVariable) or getattr(variable, "_base_vt", None) is not None:
        return False
    found = inspect.getattr_static(type(variable.value), method, None)
    return found is not None and not isinstance(found, types.FunctionType) and found is not getattr(object, method)


def _guard_answer(method: str, asked: Any, *others: Any) -> None:
    """Have later calls agree on what a method says. That it declines, its types tell, on which they have to agree."""
    if any(isinstance(other, TensorVariable) for other in others):  # of which C code knows nothing
        return
    is_of_data = [isinstance(other, SymNodeVariable) and not other.is_python_constant() for other in others]
    values = [
        other.python_type()() if unknown else other.get_real_python_backed_value()
        for other, unknown in zip(others, is_of_data, strict=True)
    ]
    try:
        answer = getattr(type(asked.value), method)(asked.value, *values)
    except Exception as error:
        _refuse(asked, f"which raises {type(error).__name__}")
    if answer is NotImplemented:
        return
    if any(is_of_data):
        _refuse(asked, "and data tell with which number")
    names, constants = [], {}
    for place, variable in enumerate((asked, *others)):
        name = _expression(variable)
        if name is None and not variable.is_python_constant():
            _refuse(asked, "with what the call has made")
        if name is None:
            name = f"___constant_{place}"
            constants[name] = variable.as_python_constant()
        names.append(name)
    question = f"type({names[0]}).{method}({', '.join(names)})"
    given = [variable for variable in (asked, *others) if _expression(variable) is not None]
    if given:
        agree(given[0].source, f"{question} == ___answer", **constants, ___answer=answer)


def _expression(variable: Any) -> str | None:
    """What leads to an object from outside; constants have guards of their own."""
    is_constant = variable.source is None or isinstance(variable, ConstantVariable)
    return None if is_constant else expression_of(variable.source)


def _refuse(variable: Any, why: str) -> NoReturn:
    message = f"an object of type `{type(variable.value).__name__}` is compared, {why}"
    raise_refusal("AG320", message, "compare numbers or texts that are computed of it before")
