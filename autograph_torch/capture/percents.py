"""Texts that `%` makes of numbers of the graph: Dynamo has `format` for them, and nothing for `%`.

    "%-6s|%07.2f" % (name, x.item())       "{!s:<6}|{:07.2f}".format(name, x.item())
    "%d of %d" % (n, 8)                    "{:d} of {:d}".format(n, 8)

Left to Python is what `format` does otherwise: `%d` of a float, widths that are arguments (`%*d`), names (`%(n)d`).

Private: BuiltinVariable.call_function. tests/capture/test_percents.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, TupleVariable
from torch._dynamo.variables.builtin import BuiltinVariable

from autograph_torch.capture.patching import patched

_CONVERSION = re.compile(r"%(?:%|(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d*)?(?P<kind>[a-zA-Z]))")
_FLOATS, _INTEGERS, _TEXTS = "fFeEgG", "dixXo", "sr"


@contextlib.contextmanager
def percents() -> Iterator[None]:
    """While this is in force, such texts are made."""
    called = BuiltinVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is operator.mod and len(args) == 2 and _is_text(args[0]):
            values = args[1].realize()
            values = list(values.items) if isinstance(values, TupleVariable) else [values]
            template = _template(args[0].as_python_constant(), [_kind_of(value) for value in values])
            if template is not None and any(isinstance(value.realize(), SymNodeVariable) for value in values):
                given = [ConstantVariable.create(template), *values]
                return BuiltinVariable(str.format).call_function(tx, given, {})
        return called(self, tx, args, kwargs)

    with patched(BuiltinVariable, call_function=call_function):
        yield


def _is_text(variable: Any) -> bool:
    return variable.is_python_constant() and isinstance(variable.as_python_constant(), str)


def _kind_of(variable: Any) -> type | None:
    """The type of a value that `format` may be given: a number, or a constant."""
    value = variable.realize()
    if isinstance(value, SymNodeVariable):
        kinds = {torch.SymInt: int, torch.SymFloat: float}
        return next((kind for symbol, kind in kinds.items() if isinstance(value.sym_num, symbol)), None)
    return type(value.as_python_constant()) if value.is_python_constant() else None


def _template(text: str, kinds: list[type | None]) -> str | None:
    """The template of `format` that does what `%` does with values of these types; None where there is none."""
    pieces: list[str] = []
    end = used = 0
    for found in _CONVERSION.finditer(text):
        pieces.append(_literal(text[end : found.start()]))
        end = found.end()
        if found["kind"] is None:
            pieces.append("%")
            continue
        field = _field(found, kinds[used]) if used < len(kinds) else None
        if field is None:
            return None
        pieces.append(field)
        used += 1
    others = "%" in _CONVERSION.sub("", text)  # what begins no conversion known here
    return None if others or used != len(kinds) else "".join([*pieces, _literal(text[end:])])


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _field(found: re.Match[str], value: type | None) -> str | None:
    """The field for one conversion of a value of a type."""
    flags, width, precision, kind = found["flags"], found["width"], found["precision"] or "", found["kind"]
    precision = ".0" if precision == "." else precision
    if kind in _TEXTS:
        aligned = ("<" if "-" in flags else ">") + width if width else ""
        spec = aligned + precision
        return "{!" + kind + (":" + spec if spec else "") + "}" if value is not None else None
    integral = kind in _INTEGERS and value in (int, bool) and not precision
    if not integral and not (kind in _FLOATS and value in (int, float, bool)):
        return None
    sign = "+" if "+" in flags else " " if " " in flags else ""
    left = "<" if "-" in flags and width else ""
    zeros = "0" if "0" in flags and not left and width else ""
    return "{:" + left + sign + ("#" if "#" in flags else "") + zeros + width + precision + kind.replace("i", "d") + "}"
