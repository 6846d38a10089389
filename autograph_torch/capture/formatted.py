"""Texts with numbers of the graph in them: Dynamo has `format` for them, and nothing else.

    "%-6s|%07.2f" % (name, x)              "{!s:<6}|{:07.2f}".format(name, float(x))
    "%d of %d" % (v, 8)                    "{:d} of {:d}".format(int(v), 8)
    str(n)                                 "{!s}".format(n)
    str(n) + "%"                           "{!s}%".format(n)
    ", ".join(texts)                       "{:d}h, {:d}m".format(h, m)
    f"{config}"                            what its `__str__` or `__repr__` gives

`f"{n:.3f}"` of an argument that has changed between two calls is to torch 2.13 the argument itself, a number: the text
is looked up by where the number comes from. With more text around it, it is refused ("BUILD_STRING type error"); where
the number is computed, its text is formatted: `f"{n:5}"` stands on the left, and `f"{n:02d}"` is an error.

    s = f"{x[0]:.2f}"; x += 1              the text is made behind the graph, of a copy of what is in it now: of the
    s = f"{found}"; found.append(n)        tensor, or of the list

A text that the program's source shows to go to effects and exceptions alone (passes/texts.py) is none of Python: one
that would outlive the graph nevertheless is refused.

    names.get(f"layer {n}")                is refused: Dynamo takes no such text for a key that is there

Left to Python are widths that are arguments (`%*d`), names (`%(n)d`), and whatever else is done to such a text.

Private: BuiltinVariable.call_function, ConstantVariable.call_method, StringFormatVariable, LazySymNodeFormatString,
InstructionTranslatorBase._format_value and _convert_value, and SideEffects.codegen_save_tempvars.
tests/capture/test_formatted.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import dis
import enum
import functools
import inspect
import operator
import re
import string
import types
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.symbolic_convert import InstructionTranslator, InstructionTranslatorBase
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    ConstDictVariable,
    ListVariable,
    SymNodeVariable,
    TensorVariable,
    TupleVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.base import AttributeMutationNew, ValueMutationNew, VariableTracker
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.lazy import LazyCache, LazySymNodeFormatString, LazyVariableTracker
from torch._dynamo.variables.misc import StringFormatVariable
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.dict_keys import guard_keys
from autograph_torch.capture.patching import patched
from autograph_torch.capture.policy import is_torch
from autograph_torch.runtime import effects, tracing
from autograph_torch.runtime.refusal import raise_refusal
from autograph_torch.runtime.tuples import shows_elements

_CONVERSION = re.compile(r"%(?:%|(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d*)?(?P<kind>[a-zA-Z]))")
_FLOATS, _WHOLE, _TEXTS = "fFeEgG", "di", "sr"
_INTEGERS = _WHOLE + "xXo"
_FOR_EFFECTS = (effects.Text, effects.Listed)


@contextlib.contextmanager
def texts_of_numbers() -> Iterator[None]:
    """While this is in force, such texts are made."""
    call_builtin, call_method = BuiltinVariable.call_function, ConstantVariable.call_method

    def called(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is operator.mod and len(args) == 2 and _is_text(args[0]):
            text = _percent(args[0].as_python_constant(), args[1].realize(), functools.partial(number, tx))
        elif self.fn in (str, repr) and len(args) == 1 and not kwargs:
            value = args[0].realize()
            if isinstance(value, SymNodeVariable):
                text = text_of_number(value, "{!s}" if self.fn is str else "{!r}")
            else:
                text = text_of_object(tx, value, as_repr=self.fn is repr)
        elif self.fn is len and len(args) == 1 and _is_made(args[0]):  # of which torch takes the exception for Python's
            raise_refusal("AG321", "the length of a text with values of the graph", "count without the text")
        elif self.fn in (operator.add, operator.iadd) and any(_is_made(one) for one in args):
            text = _joined("", args)
        elif self.fn is format and args and not kwargs:
            spec = args[1].as_python_constant() if len(args) > 1 else ""  # which torch takes for an argument
            text = called(BuiltinVariable(str.format), tx, [ConstantVariable.create(f"{{:{spec}}}"), args[0]], {})
        elif self.fn is str.format and args and _is_text(args[0]):
            given = _with_texts(tx, args[0].as_python_constant(), [one.realize() for one in args[1:]], kwargs)
            return call_builtin(self, tx, args, kwargs) if given is None else call_builtin(self, tx, given, {})
        else:
            text = None
        return call_builtin(self, tx, args, kwargs) if text is None else text

    def number(tx: Any, kind: type, value: Any) -> Any:
        return call_builtin(BuiltinVariable(kind), tx, [value], {})

    def method_called(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "join" and len(args) == 1 and _is_text(self):
            parts: Any = args[0].realize()
            if type(parts) not in (ListVariable, TupleVariable):
                args = [parts := VariableTracker.build(tx, list).call_function(tx, args, {})]
            made = any(_is_made(one) for one in parts.items)
            text = _joined(self.as_python_constant(), parts.items) if made else None
            if text is not None:
                return text
        return call_method(self, tx, name, args, kwargs)

    format_any: Any = InstructionTranslatorBase._format_value

    def format_value(self: Any, fmt_spec: Any, flags: int) -> None:
        value, conversion = self.pop().realize(), flags & 3
        text = text_to_format(self, value, conversion, fmt_spec)
        if text is not None and conversion == _NOTHING:  # it has formatted itself
            self.push(text)
        elif isinstance(value, SymNodeVariable):
            converted = ("", "!s", "!r", "!a")[conversion]
            self.push(text_of_number(value, f"{{{converted}:{fmt_spec.as_python_constant()}}}"))
        else:
            self.push(value if text is None else text)
            format_any(self, fmt_spec, flags if text is None else _NOTHING)

    convert_any: Any = InstructionTranslatorBase._convert_value

    def convert_value(self: Any, value: Any, conversion: int) -> Any:
        value = value.realize()
        if conversion == _ASCII and isinstance(value, SymNodeVariable):
            return text_of_number(value, "{!a}")
        if conversion == _ASCII:
            text_to_format(self, value, conversion, ConstantVariable.create(""))  # which refuses it for objects
        return convert_any(self, value, conversion)

    make = StringFormatVariable.create

    def create(kind: Any, template: str, args: Any, kwargs: Any) -> Any:
        copies = [_as_it_is(one, shown=False) for one in args]
        return make(template, copies, {name: _as_it_is(one, shown=False) for name, one in kwargs.items()})

    save = SideEffects.codegen_save_tempvars

    def save_objects(self: Any, *args: Any) -> None:
        if any(_outlives_the_graph(one) for one in self._get_modified_vars()):
            raise_refusal("AG310", "a text or list with values of the graph is kept", "keep the values instead")
        save(self, *args)

    def hash_of(self: Any, *_: Any) -> Any:
        raise_refusal("AG321", "a text with values of the graph is a key, or an element of a set", "take a number")

    hashes = {name: hash_of for name in ("hash_impl", "get_python_hash") if hasattr(StringFormatVariable, name)}
    # An instruction of its own from Python 3.13 on. What is converted is a text for the one that formats.
    converting = {"_convert_value": convert_value} if "CONVERT_VALUE" in dis.opmap else {}
    with (
        patched(BuiltinVariable, call_function=called),
        patched(ConstantVariable, call_method=method_called),
        patched(InstructionTranslatorBase, _format_value=format_value, **converting),
        patched(LazySymNodeFormatString, __repr__=_text_of_symbol),
        patched(StringFormatVariable, create=classmethod(create), **hashes),
        patched(SideEffects, codegen_save_tempvars=save_objects),
    ):
        yield


def _outlives_the_graph(variable: Any) -> bool:
    """Whether an object that is made anew behind the graph is for effects."""
    is_object = isinstance(variable, UserDefinedObjectVariable) and variable.value_type in _FOR_EFFECTS
    return (
        is_object and isinstance(variable.mutation_type, AttributeMutationNew) and variable.value_type in _FOR_EFFECTS
    )


def _parts_of_text(_: Any, given: dict[str, Any]) -> dict[str, Any]:
    text = given["value"].realize()
    if type(text) is not StringFormatVariable:
        return {}
    named = ConstDictVariable({ConstantVariable.create(name): one for name, one in text.sym_kwargs.items()})
    return {"found": TupleVariable([ConstantVariable.create(text.format_string), TupleVariable(text.sym_args), named])}


# By their code: functions of the runtime whose arguments the tracer fills in.
MADE_TEXTS: dict[types.CodeType, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    effects.parts_of_text.__code__: _parts_of_text
}


def _as_it_is(value: Any, shown: bool) -> Any:
    """A value that stays as it is now until its text is made. `shown`: by its `repr`, not by its number.

    Raises:
        CaptureError: AG320, the text of a tensor that records its gradient: it has the name of an operator in it.
    """
    found = value.realize()
    if type(found) is TensorVariable:
        if (shown or found.ndim != 0) and found.requires_grad:
            raise_refusal("AG320", "the text of a tensor that records its gradient", "make it of `x.detach()`")
        tx = InstructionTranslator.current_tx()
        return found.call_method(tx, "detach", [], {}).call_method(tx, "clone", [], {})
    if type(found) is TupleVariable:
        return TupleVariable([_as_it_is(one, shown=True) for one in found.items])
    if type(found) is ListVariable:
        return ListVariable([_as_it_is(one, shown=True) for one in found.items], mutation_type=ValueMutationNew())
    if type(found) is ConstDictVariable and found.user_cls is dict:
        guard_keys(found)
        entries = {key: _as_it_is(one, shown=True) for key, one in found.items.items()}
        return ConstDictVariable(entries, mutation_type=ValueMutationNew())
    if _may_change(found):
        raise_refusal("AG320", f"the text of a {found.python_type().__name__}", "make a list or dict of it first")
    return value


def _may_change(variable: Any) -> bool:
    """Whether it is another container than those that are copied, and it, or what is in it, may be written to."""
    kind = _kind(variable)
    if kind is None or variable.is_python_constant() or not issubclass(kind, (tuple, list, set, dict, deque)):
        return False
    if not issubclass(kind, tuple):
        return True
    items = variable.unpack_var_sequence(InstructionTranslator.current_tx())
    kinds = (ConstantVariable, SymNodeVariable, StringFormatVariable)
    return not all(isinstance(item.realize(), kinds) or item.is_python_constant() for item in items)


def _text_of_symbol(self: Any) -> str:
    template: str = self.fmt_var.as_python_constant()
    return template.format(self.sym_node_var.evaluate_expr())


def text_of_number(number: Any, template: str) -> Any:
    """The text of a symbol: where the graph can be for its value, Python knows the text when it asks for it."""
    if has_free_unbacked_symbols(number.sym_num):
        return StringFormatVariable.create(template, [number], {})
    formatted = LazySymNodeFormatString(number, ConstantVariable.create(""))
    formatted.fmt_var = ConstantVariable.create(template)
    return LazyVariableTracker(LazyCache(formatted, None))


def text_of_object(tx: Any, variable: Any, as_repr: bool) -> Any:
    """The text that an object's own class makes of it; None where Dynamo's is right.

    Dynamo (torch 2.13) takes the text of the object as it is when it is traced, whatever is written to it before, and
    has no guard for it. What is not Python code of the program is refused, but for what nobody writes to.
    """
    kind = _kind(variable)
    if kind is None or not isinstance(variable, (UserDefinedObjectVariable, ConstDictVariable)) or kind is dict:
        return None
    if issubclass(kind, (BaseException, enum.Enum)):
        return None
    method = kind.__repr__ if as_repr or kind.__str__ is object.__str__ else kind.__str__
    if shows_elements(method):
        fields = ", ".join(f"{name}={{!r}}" for name in kind._fields)  # type: ignore[attr-defined]
        template = ConstantVariable.create(f"{kind.__name__}({fields})")
        return BuiltinVariable(str.format).call_function(tx, [template, *tracing.inner_of(variable).items], {})
    method = inspect.unwrap(method)  # what dataclasses put around theirs looks out for objects in themselves
    if isinstance(method, types.FunctionType) and not is_torch(method.__code__):
        return UserFunctionVariable(method).call_function(tx, [variable], {})
    if method is tuple.__repr__:  # Dynamo would ask an empty tuple that it has made as an example
        return BuiltinVariable(repr).call_function(tx, [tracing.inner_of(variable)], {})
    if method is torch.nn.Module.__repr__ and _shows_state(getattr(variable, "value", None)):
        raise_refusal(
            "AG320", "the text of a module whose `extra_repr` is the program's", "make a text of what it shows"
        )
    if issubclass(kind, (dict, list, set, types.SimpleNamespace)):
        raise_refusal("AG320", f"the text of a {kind.__name__}, which it makes in C", "make a list or dict of it first")
    return None


def _shows_state(module: Any) -> bool:
    modules = module.modules() if isinstance(module, torch.nn.Module) else ()
    return not all(is_torch(type(one).extra_repr.__code__) and is_torch(type(one).__repr__.__code__) for one in modules)


def text_to_format(tx: Any, variable: Any, conversion: int, spec: Any) -> Any:
    """What `f"{variable!s:spec}"` formats, where that is an object's own text; None where it is something else."""
    converts = conversion != _NOTHING
    own = getattr(_kind(variable), "__format__", None)
    if not converts and isinstance(own, types.FunctionType) and isinstance(variable, UserDefinedObjectVariable):
        return UserFunctionVariable(own).call_function(tx, [variable, spec], {})
    if not converts and own is not object.__format__:
        return None
    text = text_of_object(tx, variable, as_repr=conversion == _REPR)
    if text is not None and not converts and not (spec.is_python_constant() and spec.as_python_constant() == ""):
        message = f"unsupported format string passed to {variable.python_type().__name__}.__format__"
        raise_observed_exception(TypeError, tx, args=[message])
    if text is not None and conversion not in _CONVERSIONS.values():
        raise_refusal("AG320", "the text of an object in ASCII, `!a`", "use `!r`")
    return text


_NOTHING, _STR, _REPR, _ASCII = 0, 1, 2, 3  # of what FORMAT_VALUE is told
_CONVERSIONS = {None: _NOTHING, "s": _STR, "r": _REPR}


def _with_texts(tx: Any, template: str, values: list[Any], named: dict[str, Any]) -> list[Any] | None:
    """The arguments of `str.format` with the texts of objects in their place; None where there are no objects."""
    for value in (*values, *named.values()):
        _refuse_objects_inside(value)
    if not any(isinstance(one.realize(), UserDefinedObjectVariable) for one in (*values, *named.values())):
        return None
    pieces: list[str] = []
    arguments: list[Any] = []
    automatic = 0
    for literal, field, spec, conversion in string.Formatter().parse(template):
        pieces.append(_literal(literal))
        if field is None:
            continue
        name, access = re.fullmatch(r"([^.\[]*)(.*)", field, re.DOTALL).groups()  # type: ignore[union-attr]
        automatic += not name
        value = named[name] if name in named else values[int(name or automatic - 1)]
        value, spec = value.realize(), spec or ""
        text = None
        if not access and "{" not in spec and conversion in _CONVERSIONS:
            text = text_to_format(tx, value, _CONVERSIONS[conversion], ConstantVariable.create(spec))
        elif isinstance(value, UserDefinedObjectVariable):
            raise_refusal("AG320", "a text of an attribute of an object, in `format`", "use an f-string")
        arguments.append(value if text is None else text)
        shown = f"{access}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}"
        formats_itself = text is not None and conversion is None
        pieces.append("{}" if formats_itself else "{:" + spec + "}" if text is not None else "{" + shown + "}")
    return [ConstantVariable.create("".join(pieces)), *arguments]


def _kind(variable: Any) -> type | None:
    try:
        kind: type = variable.python_type()
    except NotImplementedError:
        return None
    return kind


def _refuse_objects_inside(variable: Any) -> None:
    """Stop where a list or dict is to show objects of the program, whose texts Dynamo would not ask for."""
    value = variable.realize()
    if isinstance(value, BaseListVariable):
        parts = value.items
    elif isinstance(value, ConstDictVariable):
        parts = list(value.items.values())
    else:
        return
    for part in parts:
        inner = part.realize()
        if isinstance(inner, UserDefinedObjectVariable) and not issubclass(inner.python_type(), (enum.Enum, tuple)):
            raise_refusal("AG320", "the text of a list or dict that has objects in it", "make the text of each of them")
        _refuse_objects_inside(inner)


def _is_made(variable: Any) -> bool:
    return type(variable.realize()) is StringFormatVariable


def _percent(text: str, given: Any, number: Callable[[type, Any], Any]) -> Any:
    """`text % given`; None where it has no number of the graph, or `format` cannot do it."""
    values = list(given.items) if isinstance(given, TupleVariable) else [given]
    template = _template(text, [_kind_of(value) for value in values])
    if template is None or not any(_is_of_graph(value) for value in values):
        return None
    pairs = zip(values, template.numbers, strict=True)
    arguments = [value if kind is None else number(kind, value) for value, kind in pairs]
    return StringFormatVariable.create(template.text, arguments, {})


def _joined(separator: str, parts: list[Any]) -> Any:
    """The texts with the separator between them, as one; None where one of them cannot be taken apart."""
    templates: list[str] = []
    arguments: list[Any] = []
    for part in parts:
        taken = _apart(part.realize())
        if taken is None:
            return None
        templates.append(taken[0])
        arguments.extend(taken[1])
    return StringFormatVariable.create(_literal(separator).join(templates), arguments, {})


def _apart(text: Any) -> tuple[str, list[Any]] | None:
    """A text as a template whose fields have no names and its arguments, one for each field in their order."""
    if _is_text(text):
        return _literal(text.as_python_constant()), []
    if type(text) is not StringFormatVariable:
        return None
    pieces: list[str] = []
    arguments: list[Any] = []
    for literal, field, spec, conversion in string.Formatter().parse(text.format_string):
        pieces.append(_literal(literal))
        if field is None:
            continue
        value = _argument(text, field, len(arguments))
        if value is None or "{" in (spec or ""):
            return None
        arguments.append(value)
        pieces.append("{" + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}")
    return "".join(pieces), arguments


def _argument(text: Any, field: str, position: int) -> Any:
    if field in text.sym_kwargs:
        return text.sym_kwargs[field]
    return text.sym_args[int(field or position)] if field.isdecimal() or not field else None


@dataclass(frozen=True)
class Template:
    """A template of `format`, and what is to become an `int` or `float` before it is put in."""

    text: str
    numbers: tuple[type | None, ...]


def _is_of_graph(variable: Any) -> bool:
    value = variable.realize()
    return isinstance(value, SymNodeVariable) or value.is_tensor()


def _is_text(variable: Any) -> bool:
    return variable.is_python_constant() and isinstance(variable.as_python_constant(), str)


def _kind_of(variable: Any) -> type | None:
    """The type of a value that `format` may be given: a number, a tensor of one, or a constant."""
    value = variable.realize()
    if value.is_tensor():
        return torch.Tensor if value.ndim == 0 else None
    if isinstance(value, SymNodeVariable):
        kinds = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}
        return next((kind for symbol, kind in kinds.items() if isinstance(value.sym_num, symbol)), None)
    return type(value.as_python_constant()) if value.is_python_constant() else None


def _template(text: str, kinds: list[type | None]) -> Template | None:
    """The template of `format` that does what `%` does with values of these types; None where there is none."""
    pieces: list[str] = []
    numbers: list[type | None] = []
    end = 0
    for found in _CONVERSION.finditer(text):
        pieces.append(_literal(text[end : found.start()]))
        end = found.end()
        if found["kind"] is None:
            pieces.append("%")
            continue
        kind = kinds[len(numbers)] if len(numbers) < len(kinds) else None
        number = _number_for(found, kind)
        field = _field(found, number or kind)
        if field is None:
            return None
        pieces.append(field)
        numbers.append(number)
    others = "%" in _CONVERSION.sub("", text)  # what begins no conversion known here
    if others or len(numbers) != len(kinds):
        return None
    return Template("".join([*pieces, _literal(text[end:])]), tuple(numbers))


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _number_for(found: re.Match[str], value: type | None) -> type | None:
    """What `%` makes of a value first: `%d` an `int` of a float or tensor, `%f` a `float` of a tensor."""
    if found["kind"] in _WHOLE and value in (float, torch.Tensor):
        return int
    return float if found["kind"] in _FLOATS and value is torch.Tensor else None


def _field(found: re.Match[str], value: type | None) -> str | None:
    """The field for one conversion of a value of a type."""
    flags, width, precision, kind = found["flags"], found["width"], found["precision"] or "", found["kind"]
    precision = ".0" if precision == "." else precision
    if kind in _TEXTS:
        aligned = ("<" if "-" in flags else ">") + width if width else ""
        spec = aligned + precision
        return "{!" + kind + (":" + spec if spec else "") + "}" if value not in (None, torch.Tensor) else None
    integral = kind in _INTEGERS and value in (int, bool) and not precision
    if not integral and not (kind in _FLOATS and value in (int, float, bool)):
        return None
    sign = "+" if "+" in flags else " " if " " in flags else ""
    left = "<" if "-" in flags and width else ""
    zeros = "0" if "0" in flags and not left and width else ""
    shown = "d" if kind in _WHOLE else kind
    return "{:" + left + sign + ("#" if "#" in flags else "") + zeros + width + precision + shown + "}"
