"""What a log call changes or asks, where the program has code of its own at the logger, stays out of the graph.

    class Count(logging.Handler):
        def emit(self, record): self.n += 1

    log.addHandler(counter)
    if p: log.info("positive")
    return counter.n                    read while tracing, before the graph has come to the call
    filter.on = False                   written behind the graph, when the call has been made

Handlers, filters and formatters of a logger and of its parents, adapters and loggers of the program's classes may do
so, with themselves and with the lists, dicts and objects that they hold or name. A function that logs and uses such an
object itself is refused, on one path, too.

Private: SideEffects.id_to_variable, OutputGraph.guards.
tests/capture/test_log_states.py fails clearly when torch changes them.
"""

from __future__ import annotations

import dis
import io
import logging
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

from torch._dynamo import symbolic_convert

from autograph_torch.runtime import performing, tracing
from autograph_torch.runtime.refusal import raise_refusal

_CONTAINERS = (list, dict, set, deque)
_NO_STATE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, logging.Logger, io.IOBase)
_EMPTY = types.CellType()


def note_log_call(function: Any) -> None:
    """The program logs by this function."""
    if performing.is_log_method(function):
        _loggers().append(function.__self__)
    elif getattr(function, "__module__", "") == "logging":
        _loggers().append(logging.getLogger())


def check_log_states() -> None:
    """Stop when the program uses what its own code at a logger may change or ask."""
    output = symbolic_convert.InstructionTranslator.current_tx().output
    for one in (each for found in _loggers() for each in _attached(found)):
        is_called = isinstance(one, (logging.Logger, logging.LoggerAdapter))  # the program names it anyway
        own = [*_state_of(one), *([] if is_called else [one])]
        if any(id(state) in output.side_effects.id_to_variable for state in own) or _is_asked(one, output):
            told = f"a {type(one).__name__} that takes part in logging is used where the program logs"
            raise_refusal("AG324", told, "use it around the compiled function")


def _loggers() -> list[Any]:
    return tracing.notebook().setdefault("loggers", [])  # type: ignore[no-any-return]


def _attached(logger: Any) -> Iterator[Any]:
    """An adapter, what it adapts, and all that takes part when that logs."""
    while isinstance(logger, logging.LoggerAdapter):
        yield logger
        logger = logger.logger
    while logger is not None:
        yield logger
        yield from logger.filters
        for handler in logger.handlers:
            yield from (handler, *handler.filters, *([] if handler.formatter is None else [handler.formatter]))
        logger = logger.parent if logger.propagate else None


def _state_of(one: Any) -> list[Any]:
    """The containers and objects that an object holds, and those that the methods of its class name."""
    if type(one) is logging.Logger:
        return []
    held = [*getattr(one, "__dict__", {}).values()]
    for function in _own_functions(one):
        names = dis.get_instructions(function.__code__)
        named = {instruction.argval for instruction in names if instruction.opname == "LOAD_GLOBAL"}
        held.extend(function.__globals__[name] for name in named if name in function.__globals__)
        held.extend(cell.cell_contents for cell in function.__closure__ or () if cell != _EMPTY)
    inner = [value for container in held if isinstance(container, dict) for value in container.values()]
    return [state for state in (*held, *inner) if _has_state(state)]


def _has_state(value: Any) -> bool:
    return isinstance(value, _CONTAINERS) or (hasattr(value, "__dict__") and not isinstance(value, _NO_STATE))


def _own_functions(one: Any) -> Iterator[Any]:
    """The functions of the program's that take part."""
    kinds = (kind for kind in type(one).__mro__ if not kind.__module__.startswith("logging"))
    found = [one] if isinstance(one, types.FunctionType) else [made for kind in kinds for made in vars(kind).values()]
    return (function for function in found if isinstance(function, types.FunctionType))


def _is_asked(one: Any, output: Any) -> bool:
    """Whether the trace has read, or written to, an attribute of an adapter that its own code writes to."""
    variable = output.side_effects.id_to_variable.get(id(one))
    if variable is None or variable.source is None:
        return False
    instructions = (each for function in _own_functions(one) for each in dis.get_instructions(function.__code__))
    written = {each.argval for each in instructions if each.opname == "STORE_ATTR"}
    ends = tuple(end for name in written for end in (f".{name}", f"[{name!r}]"))
    source = _name_of(variable.source)
    read = any(source in name and name.endswith(ends) for name in map(_name_of_guard, output.guards))
    return read or not written.isdisjoint(output.side_effects.store_attr_mutations.get(variable, ()))


def _name_of(source: Any) -> str:
    return str(source.name() if callable(source.name) else source.name)  # a method with torch 2.11


def _name_of_guard(guard: Any) -> str:
    return _name_of(guard.originating_source)
