"""Names of Dynamo that differ between the versions of torch, in one place.

    patched(TensorVariable, **{GET_ATTRIBUTE: get})      var_getattr up to torch 2.13, tp_getattro_impl from 2.14 on
    get_attribute(item, tx, "steps")                     asked of a variable

Each is told by what this torch has, not by its version; of a torch that has none of the names there is an error that
says so (capture/known_torch.py). What only some version needs mended is told where it is mended.

Private: what is named here. tests/capture/test_dynamo_names.py fails clearly when torch has none of them.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from torch._dynamo import symbolic_convert
from torch._dynamo.symbolic_convert import ExceptionStack, InstructionTranslatorBase
from torch._dynamo.variables import builtin
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.lazy import LazyVariableTracker
from torch._dynamo.variables.tensor import TensorVariable


def _of(owner: Any, *names: str) -> str:
    """The one of these names that this torch has; the newest first.

    Raises:
        AttributeError: it has none.
    """
    found = next((name for name in names if hasattr(owner, name)), None)
    if found is None:
        raise AttributeError(f"none of {', '.join(names)}", name=names[0], obj=owner)
    return found


_OF_A_CALL = re.compile(r"\b[LG]\[")  # an argument, or a global

GET_ATTRIBUTE = _of(VariableTracker, "tp_getattro_impl", "var_getattr")  # of variables: `x.name`
RAISE = _of(InstructionTranslatorBase, "do_raise", "_raise_exception_variable")  # an exception begins
_RAISED = _of(ExceptionStack, "get_raised_exception", "get_current_exception")

# The truth of what is no number: the function that jumps ask. torch 2.11 has none.
TRUTH = next((name for name in ("generic_is_true", "generic_bool") if hasattr(symbolic_convert, name)), None)

# The classes of the variables of these functions, which may be those of others, too (`variable.fn` tells).
SETATTR: Any = getattr(builtin, "SetAttrBuiltinVariable", builtin.BuiltinVariable)
GETATTR: Any = getattr(builtin, "GetAttrBuiltinVariable", builtin.BuiltinVariable)
HASATTR: Any = getattr(builtin, "HasAttrBuiltinVariable", builtin.BuiltinVariable)

_TAKES_TRANSLATOR = "tx" in inspect.signature(LazyVariableTracker.create).parameters  # 2.11 does not
_SYNCHRONIZES_ALWAYS = len(inspect.signature(TensorVariable._sync_if_inplace_mutation).parameters) == 3  # 2.14 on


def attribute_set(function: Any, args: Any) -> tuple[Any, str | None, Any]:
    """The variables of `setattr(owner, name, value)` and the name; without a name for other calls of that class."""
    if getattr(function, "fn", setattr) is not setattr or len(args) != 3 or not args[1].is_python_constant():
        return None, None, None
    return args[0].realize(), args[1].as_python_constant(), args[2].realize()


def unlooked_at(value: Any, source: Any, translator: Any) -> Any:
    """The variable of a value that nothing has been asked of yet."""
    options = {"tx": translator} if _TAKES_TRANSLATOR else {}
    return LazyVariableTracker.create(value, source=source, **options)


def get_attribute(variable: Any, tx: Any, name: str) -> Any:
    """The variable of an attribute."""
    return getattr(variable, GET_ATTRIBUTE)(tx, name)


def expression_of(source: Any) -> str | None:
    """What leads to a value from the arguments or the globals, in a guard; None for what the trace has made."""
    try:
        name = source.name if isinstance(source.name, str) else source.name()
    except NotImplementedError:
        return None
    return name if _OF_A_CALL.search(name) else None


def value_at(source: Any, tx: Any) -> Any:
    """What a source leads to around the trace. (`resolve_source_value` from torch 2.12 on.)"""
    return source.get_value({"G": tx.output.root_tx.f_globals, "L": tx.output.root_tx.f_locals}, {}, {})


def raised_exception(tx: Any) -> Any:
    """The exception that is being raised in the trace."""
    return getattr(tx.exn_vt_stack, _RAISED)()


def synchronize(variable: Any, tx: Any, before: int | None, has_tensor: bool) -> None:
    """After a write in place: what is remembered of a tensor is what it has become.

    Args:
        before: the version of the tensor before the write.
        has_tensor: whether a tensor was written, which may require a gradient.
    """
    variable._sync_if_inplace_mutation(tx, before, *(() if _SYNCHRONIZES_ALWAYS else (has_tensor,)))
