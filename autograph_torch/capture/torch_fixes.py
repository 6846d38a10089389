"""Repairs of Dynamo for converted functions.

1. Without it results would be silently wrong (torch 2.13; not in 2.11).

After an operator with a body (torch.cond, torch.while_loop), Dynamo goes on with a copy of its table of side effects.
The proxy of an object's `__dict__` keeps the table it was made with: an attribute that was set before the operator and
is set again after it keeps its first value. Here the proxy asks for the table in force.

    self.steps = 1
    y = torch.cond(...)
    self.steps = 2          # torch 2.13: lost

And what a body is the first to look at, Dynamo forgets behind it, except for tensors: it goes on with the object that
stood for it, and never writes back what is set there. Here the table keeps objects, lists and dicts from outside, too.

    y = torch.cond(x.sum() > 0, lambda: x + self.meter.mean, ...)
    self.meter.count += 1   # lost

tests/capture/test_torch_fixes.py shows the errors without the repairs, and fails when torch no longer needs them.

2. Dynamo joins the inputs of an operator's bodies by name. Two tensors of different graphs may have one name (`clone`,
or a local variable's): then it stops with "duplicate argument in function definition", or takes one for the other and
the result is wrong. From the first branch or loop on, names are unique over all graphs of a trace.

3. A tensor remembers the number that `.item()` made of it. In the body of an operator, which torch runs again to learn
its results, that number is unknown ("Cannot cast FakeTensor to number"). There the number is taken from a copy.

4. Guards find a local variable by its place in the frame, and take that place from the code that was compiled. Where we
compile other code than the frame runs (capture/attempts.py), the frame's places count: the others are beyond its end.

5. A float among the inputs that has changed between two calls becomes a number that depends on data. When the body of
an operator is the first to use it, Dynamo reads it in there, and remembers what it has read for the code behind the
operator, where it does not exist. Here it is read in the graph around all bodies.

6. torch.utils.checkpoint inside of a compiled function runs its part under modes that refuse operators with bodies.
These need no special treatment there: with the modes' own switch they are recomputed as any other operator.

7. torch 2.11 takes what is set to a property for the property's value: the setter runs once the graph has returned, and
a read before that gives what was set. Later versions run the setter where it stands, and so does this.

8. Inductor drops a clone of a view (`x[1].clone()`) where it takes it for needless. In the body of a branch the result
is then the view, whose place in memory is not that of the other branch's result: "expected same storage_offset". So it
is with the gradients of a branch, when the first backward pass comes. Here such a clone is no clone of the same.

9. torch asks whether two truth values from data are equal by subtracting one from the other: "unsupported operand
type(s) for -: 'Equality' and 'Equality'" (pytorch issue 124110); of their ranges it asks whether one is below the
other. Inductor asks wherever it computes a flag that the program reads (`.item()`) in another way.

10. torch 2.11 drops the check behind `torch.linalg.inv`, `cholesky` and the like from graphs that are made functional
(Inductor, aot_eager): instead of an exception there are wrong numbers. Later versions register it as an effect, and so
does this.

11. A property of a distribution that is computed when it is first read (`Categorical.logits`) is looked up in the class
when arguments are validated, and its guard then asks what the lookup gives for the function behind the property, which
it does not have: "'_lazy_property_and_property' object has no attribute 'wrapped'". The guard belongs to what stands in
the class.

12. The text of a graph has `-2 ** x` for `(-2) ** x`, which is something else; on the backend `eager` the text runs.

13. A parameter that is found in an optimizer is taken for a plain tensor: `isinstance(p, MyParameter)` is False there.
It is what it is.

14. Where Python asks for the truth of a list or the like, and only data tell its length, Dynamo takes the question
itself for the answer, and goes on as if it were true (torch 2.13): `if xs:` of a list that has grown in a loop. Here it
stops, as it does for a number that data decide on.

15. torch takes for granted that the base of a power of floats is not negative, for Python gives a complex number where
the exponent is no integer: behind `y = x ** 2`, `x < 0` is False, and `(x - mean) ** 2` stops the graph. Here nothing
is taken for granted; a power that is complex is none that the graph goes on with.

16. A `range` that is the default of a method's argument stops the trace ("SourcelessBuilder.create does not know how to
wrap") where the object is one that the function has made. It is a range of constants there as anywhere. So does a
signature in the closure of a method's decorator, and what a class of distributions has for a value that is computed
when it is first read; and `@torch.no_grad()` at a method, which has a method of the context in its closure.

17. A fact about a quotient of integers (`if hits / count < 0.5`) cannot be written into a graph: torch has no division
of integers there ("symbolically traced variables cannot be used as inputs to control flow").

18. torch knows no `~n` of an integer that is a symbol: it is `-n - 1`. The length of a tensor without dimensions is an
IndexError of the tracer ("tuple index out of range"), where Python has a TypeError that the program may handle.

19. A function one of whose variables around it has no value yet cannot be called (torch 2.13, "Read uninitialized
cell"): a comprehension that binds a name of the function around it, `[m for v in xs if (m := f(v))]`. torch looks at
the values of such variables where it only asks whether the function may be entered.

20. torch 2.12 puts a guard on a function that it finds in a constant of the trace, as `__new__` of a named tuple's
class, where there is nothing to guard: NotImplementedError.

21. torch 2.11 does not know the `bool(xs)` of a list or dict with tensors in it: it asks for the length. That it does
not know attributes of dicts, either (those of `module.state_dict()` have one), is said. And it does not know that a
text with numbers from data in it is a `str`, a `data_ptr()` an `int`, and what `itertools.count` gives.
`flag |= x[0] > 1` of a constant it writes as it stands ("'False' is an illegal expression for augmented assignment"):
numbers have no operators in place.

22. An integer in a constant of the trace that was another one in an earlier trace of the function becomes a number that
is read from the call, where it is not ("name 'groups_6' is not defined").

23. When a new trace is due, torch looks for tensors that have become one, and raises where the way to one of them is
gone (`self.adapter = None`: "'NoneType' object has no attribute '_parameters'").

24. To tell functions apart that differ in what they close over, torch asks each such object that can be called for its
`__code__`: a `__getattr__` of the program's counts that, or raises (KeyError: `self.table[name]`).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import operator
import types
from collections.abc import Iterator
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from sympy.logic.boolalg import Boolean  # type: ignore[import-untyped]
from torch._dynamo import guards, pgo, symbolic_convert
from torch._dynamo.exc import raise_observed_exception, unimplemented
from torch._dynamo.output_graph import SubgraphTracer
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import DictGetItemSource, GetItemSource, GlobalSource, TypeDictSource, TypeMROSource
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    ConstDictVariable,
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
    dicts,
)
from torch._dynamo.variables.base import AttributeMutationExisting, ValueMutationExisting, VariableTracker
from torch._dynamo.variables.builder import SourcelessBuilder, VariableBuilder
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.functions import NestedUserFunctionVariable
from torch._dynamo.variables.iter import CountIteratorVariable
from torch._dynamo.variables.lists import RangeVariable
from torch._dynamo.variables.misc import StringFormatVariable
from torch._dynamo.variables.tensor import DataPtrVariable, SymNodeVariable, TensorVariable
from torch._guards import GuardSource
from torch._higher_order_ops import effects
from torch.distributions.utils import _lazy_property_and_property, lazy_property
from torch.fx.experimental import symbolic_shapes
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.fx.graph import magic_methods
from torch.fx.passes import runtime_assert
from torch.utils import checkpoint
from torch.utils._contextlib import _DecoratorContextManager
from torch.utils._sympy.reference import PythonReferenceAnalysis
from torch.utils._sympy.value_ranges import SymPyValueRangeAnalysis, ValueRanges

from autograph_torch.capture.dynamo_names import TRUTH
from autograph_torch.capture.open_contents import holds_unread
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal


def repair_attribute_writes() -> None:
    """Let the proxies of `__dict__` follow the table of side effects that is in force."""
    proxy = getattr(dicts, "SideEffectsProxyDict", None)
    if proxy is None or isinstance(proxy.__dict__.get("side_effects"), property):
        return

    def current(self: Any) -> Any:
        return self._autograph_output().side_effects

    def remember(self: Any, table: Any) -> None:
        self._autograph_output = table.output_graph_weakref

    proxy.side_effects = property(current, remember)


def remember_objects() -> None:
    """Let objects from outside that a body is the first to look at be known behind it."""
    remember = SideEffects.track_runahead_tensor_and_symvar_side_effects

    def remember_more(self: Any, other: Any) -> None:
        remember(self, other)
        for item in other.keepalive:
            variable = other.id_to_variable[id(item)]
            if id(item) not in self.id_to_variable and _is_as_it_was(variable):
                self.id_to_variable[id(item)] = variable
                self.keepalive.append(item)

    SideEffects.track_runahead_tensor_and_symvar_side_effects = remember_more  # type: ignore[method-assign]


def _is_as_it_was(variable: Any) -> bool:
    """Whether something has been there before the trace, and is no list or dict that a body has written to."""
    contents = tracing.inner_of(variable) or variable
    changed = getattr(contents.mutation_type, "is_modified", False)
    return variable.source is not None and isinstance(variable.mutation_type, _FROM_OUTSIDE) and not changed


_FROM_OUTSIDE = (AttributeMutationExisting, ValueMutationExisting)


def repair_names() -> None:
    """Where `keep_names_apart` has been called, let no two graphs of the trace have nodes of the same name."""
    create, hint = SubgraphTracer.create_node, TensorVariable.set_name_hint

    def create_node(self: Any, *args: Any, **kwargs: Any) -> Any:
        node = create(self, *args, **kwargs)
        names = getattr(self.output_graph, _NAMES, None)
        if names is not None and names.setdefault(node.name, node.graph) is not node.graph:
            node.meta[tracing.FIRST_NAME] = node.name
            node._rename(f"{node.name}_n{len(names)}")
            names[node.name] = node.graph
        return node

    def set_name_hint(self: Any, name: str) -> None:
        if getattr(self.proxy.tracer.output_graph, _NAMES, None) is None:
            hint(self, name)

    SubgraphTracer.create_node = create_node  # type: ignore[method-assign]
    TensorVariable.set_name_hint = set_name_hint  # type: ignore[method-assign]


def keep_names_apart(output: Any) -> None:
    """From here on in this trace names are unique over all graphs, and none is renamed after a local variable."""
    if getattr(output, _NAMES, None) is None:
        names: dict[str, Any] = {}
        for tracer in tracing.enclosing(output.current_tracer):
            names.update({node.name: tracer.graph for node in tracer.graph.nodes})
        setattr(output, _NAMES, names)


_NAMES = "_autograph_names"


@contextlib.contextmanager
def floats_read_outside() -> Iterator[None]:
    """Floats among the inputs are read in the graph around all bodies."""
    wrap = VariableBuilder.wrap_symfloat

    def wrap_symfloat(self: Any, value: float) -> Any:
        tracers = self.tx.output.tracers
        tracers.append(self.tx.output.root_tracer)
        try:
            return wrap(self, value)
        finally:
            tracers.pop()

    with patched(VariableBuilder, wrap_symfloat=wrap_symfloat):
        yield


def allow_operators_in_checkpoints() -> None:
    """Operators with bodies may be checkpointed, also when the graph runs."""
    for mode in (checkpoint._CachingTorchDispatchMode, checkpoint._CachedTorchDispatchMode):
        mode.supports_higher_order_operators = True


@contextlib.contextmanager
def numbers_of_copies() -> Iterator[None]:
    """In the bodies of operators, `.item()` (also as int, float, bool) reads a copy of the tensor."""
    method = TensorVariable.method_item

    def method_item(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        if tx.output.current_tracer.parent is None or self.as_proxy().node.target == "clone":
            return method(self, tx, *args, **kwargs)
        return self.call_method(tx, "clone", [], {}).call_method(tx, "item", list(args), kwargs)

    with patched(TensorVariable, method_item=method_item):
        yield


_PLACED = "_autograph_torch_placed"  # on Inductor's own function, once it has been replaced


def know_places(backend: Any) -> None:
    """To Inductor, tensors at different places of their memory are different, and the views that it makes of a write
    note the symbols of their places.

    For the rest of the process, from the first graph on: a backward pass is compiled when it first runs.
    """
    if getattr(backend, "__name__", "") != "inductor":
        return
    from torch._inductor.fx_passes import post_grad, reinplace

    if not hasattr(post_grad.same_meta, _PLACED):
        post_grad.same_meta = _at_one_place(post_grad.same_meta)
        reinplace.graph_call_function = _noting_symbols(reinplace.graph_call_function, reinplace.V)


def _at_one_place(same_but_for_the_place: Any) -> Any:
    def same_meta(node1: Any, node2: Any) -> bool:
        values = (node1.meta.get("val"), node2.meta.get("val"))
        places = [value.storage_offset() for value in values if isinstance(value, torch.Tensor)]
        known = len(places) == len(values) and statically_known_true(places[0] == places[1])
        return known and same_but_for_the_place(node1, node2)

    setattr(same_meta, _PLACED, True)
    return same_meta


def _noting_symbols(call: Any, virtual: Any) -> Any:
    def call_function(*args: Any, **kwargs: Any) -> Any:
        node = call(*args, **kwargs)
        symbols = symbolic_shapes.compute_unbacked_bindings(virtual.fake_mode.shape_env, node.meta["val"])
        if symbols:
            node.meta["unbacked_bindings"] = symbols
        return node

    return call_function


@contextlib.contextmanager
def floats_as_computed() -> Iterator[None]:
    """A float is what the program has computed, not what algebra makes of it."""
    expression = runtime_assert._get_sym_val

    def expression_of_integer(node: Any) -> Any:
        is_computed = node.op == "call_function" and isinstance(node.meta.get("example_value"), torch.SymFloat)
        return None if is_computed else expression(node)

    with patched(runtime_assert, _get_sym_val=expression_of_integer):
        yield


@contextlib.contextmanager
def places_of(frame: types.CodeType, compiled: types.CodeType) -> Iterator[None]:
    """While `compiled` is compiled in the place of the code that a frame runs, guards look into that frame."""
    place = guards.get_framelocals_idx

    def place_in_frame(code: types.CodeType, var_name: str) -> int:
        return place(frame if code is compiled else code, var_name)

    with patched(guards, get_framelocals_idx=place_in_frame):
        yield


def repair_property_writes() -> None:
    """Let setters of properties run where the program sets them (torch 2.11)."""
    if not hasattr(UserDefinedObjectVariable, "try_get_descritor_and_setter_py_func"):
        return
    store: Any = UserDefinedObjectVariable.method_setattr_standard

    def set_attribute(self: Any, tx: Any, name: Any, value: Any, directly_update_dict: bool = False) -> Any:
        found = inspect.getattr_static(type(self.value), name.as_python_constant(), None)
        if directly_update_dict or not isinstance(found, property) or not inspect.isfunction(found.fset):
            return store(self, tx, name, value, directly_update_dict)
        return UserFunctionVariable(found.fset).call_function(tx, [self, value], {})

    UserDefinedObjectVariable.method_setattr_standard = set_attribute  # type: ignore[method-assign, assignment]


def repair_lazy_properties() -> None:
    """Let guards on properties of distributions ask for what stands in the class."""
    resolve: Any = getattr(UserDefinedClassVariable, "resolve_cls_descriptor", None)
    if resolve is None:
        return

    def resolve_descriptor(self: Any, tx: Any, name: str, cls_attr: object, source: Any) -> Any:
        if source is not None and self.source is not None and isinstance(cls_attr, lazy_property):
            source = _in_class(self, tx, name)
        return resolve(self, tx, name, cls_attr, source)

    UserDefinedClassVariable.resolve_cls_descriptor = resolve_descriptor  # type: ignore[method-assign]


def _in_class(variable: Any, tx: Any, name: str) -> Any:
    """The source of what stands in a class, or in the one that it has it from."""
    if hasattr(variable, "get_source_by_walking_mro"):  # torch 2.13 on
        return variable.get_source_by_walking_mro(tx, name)
    position = next(k for k, kind in enumerate(variable.value.__mro__) if name in vars(kind))
    return DictGetItemSource(TypeDictSource(GetItemSource(TypeMROSource(variable.source), position)), name)


def know_types() -> None:
    """Let texts and iterators that count have their types (torch 2.11: "cannot determine type of argument")."""
    pairs: Any = ((StringFormatVariable, str), (CountIteratorVariable, itertools.count), (DataPtrVariable, int))
    for variable, kind in pairs:
        if variable.python_type is VariableTracker.python_type:
            variable.python_type = functools.partialmethod(_given, kind)


def _given(_: Any, kind: type) -> type:
    return kind


def take_constants_without_source() -> None:
    """Let ranges, signatures and properties be what they are also where Dynamo does not know where they come from."""

    def range_of_constants(tx: Any, value: range) -> RangeVariable:
        return RangeVariable([ConstantVariable.create(bound) for bound in (value.start, value.stop, value.step)])

    def with_source(tx: Any, value: object) -> Any:
        return VariableTracker.build(tx, value, GlobalSource(tx.output.install_global("__found", value)))

    def method_of_context(tx: Any, value: types.MethodType) -> Any:
        if isinstance(value.__self__, _DecoratorContextManager):
            return with_source(tx, value)
        unimplemented(
            gb_type="Unexpected type in sourceless builder",
            context="builtins.method",
            explanation=f"the method {value.__qualname__} of an object that the tracer has not come to",
            hints=[],
        )

    handlers: dict[type, Any] = SourcelessBuilder._type_handlers  # type: ignore[attr-defined]
    handlers.setdefault(range, range_of_constants)
    handlers.setdefault(types.MethodType, method_of_context)
    for kind in (inspect.Signature, _lazy_property_and_property):
        handlers.setdefault(kind, with_source)


@contextlib.contextmanager
def truth_of_lengths() -> Iterator[None]:
    """While this is in force, a length that only data tell is no answer to `if xs:`."""
    if TRUTH is None:
        yield
        return
    ask = getattr(symbolic_convert, TRUTH)

    def asked(tx: Any, value: Any) -> Any:
        answer = ask(tx, value)
        as_number = isinstance(answer, SymNodeVariable) and not isinstance(value, UserDefinedObjectVariable)
        return answer.evaluate_expr(tx.output) if as_number else answer

    with patched(symbolic_convert, **{TRUTH: asked}):
        yield


_NUMBERS = (ConstantVariable, SymNodeVariable)
_IN_PLACE = {operator.iand: operator.and_, operator.ior: operator.or_, operator.ixor: operator.xor}
_IN_PLACE |= {getattr(operator, f"i{name}"): getattr(operator, name) for name in ("add", "sub", "mul", "truediv")}
_IN_PLACE |= {getattr(operator, f"i{name}"): getattr(operator, name) for name in ("floordiv", "mod", "pow")}


@contextlib.contextmanager
def operators_of_old() -> Iterator[None]:
    """While this is in force, `bool(xs)` of a list or dict is known, `d.name = 1` refused, and `n += 1` `n = n + 1`."""
    if TRUTH is not None:
        yield
        return
    call = BuiltinVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn in _IN_PLACE and len(args) == 2 and all(isinstance(one.realize(), _NUMBERS) for one in args):
            return call(BuiltinVariable(_IN_PLACE[self.fn]), tx, args, kwargs)
        container = args[0].realize() if self.fn in (bool, setattr) and args else None
        if not isinstance(container, (BaseListVariable, ConstDictVariable)):
            return call(self, tx, args, kwargs)
        if self.fn is bool:
            return call(self, tx, [container.call_method(tx, "__len__", [], {})], kwargs)
        if not tracing.may_break():
            raise_refusal("AG320", "an attribute of a list or dict, with torch 2.11", "use torch 2.12 or newer")
        return call(self, tx, args, kwargs)

    with patched(BuiltinVariable, call_function=call_function):
        yield


@contextlib.contextmanager
def powers_of_any_sign() -> Iterator[None]:
    """Let powers of floats from data say nothing about the sign of their bases."""

    def power(self: Any, exponent: Any) -> Any:
        if not isinstance(exponent, (int, float, torch.SymInt, torch.SymFloat)):
            return NotImplemented
        return self.__float_pow__(exponent)

    with patched(torch.SymFloat, __pow__=power):
        yield


@contextlib.contextmanager
def inverted_integers() -> Iterator[None]:
    """While this is in force, integers that are symbols are inverted."""
    call = BuiltinVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is operator.invert and len(args) == 1:
            number = args[0].realize()
            if isinstance(number, SymNodeVariable) and isinstance(number.sym_num, torch.SymInt):
                given = [ConstantVariable.create(-1), number]
                return call(BuiltinVariable(operator.sub), tx, given, {})
        return call(self, tx, args, kwargs)

    with patched(BuiltinVariable, call_function=call_function):
        yield


@contextlib.contextmanager
def lengths_without_dimensions() -> Iterator[None]:
    """While this is in force, the length of a tensor without dimensions is Python's exception."""
    name = "sq_length" if hasattr(TensorVariable, "sq_length") else "method___len__"  # of torch 2.11
    ask = getattr(TensorVariable, name)

    def length(self: Any, tx: Any) -> Any:
        if self.ndim == 0:
            raise_observed_exception(TypeError, tx, args=["len() of a 0-d tensor"])
        return ask(self, tx)

    with patched(TensorVariable, **{name: length}):
        yield


@contextlib.contextmanager
def types_of_parameters() -> Iterator[None]:
    """Parameters have the type that they have, wherever they are found."""
    wrap = VariableBuilder.wrap_tensor

    def wrap_tensor(self: Any, value: torch.Tensor) -> Any:
        variable = wrap(self, value)
        if type(variable) is TensorVariable and isinstance(value, torch.nn.Parameter):
            variable.class_type = type(value)
        return variable

    with patched(VariableBuilder, wrap_tensor=wrap_tensor):
        yield


def keep_checks_of_linalg() -> None:
    """Let graphs that are made functional keep the exceptions of torch.linalg (torch 2.11)."""
    if effects._get_effect(_CHECK) is None:
        effects._register_effectful_op(_CHECK, effects._EffectType.ORDERED)


_CHECK = "aten::_linalg_check_errors"


def repair_equality_of_flags() -> None:
    """Let torch ask whether truth values from data are equal."""
    canonicalize: Any = symbolic_shapes._canonicalize_bool_expr_impl
    equal: Any = SymPyValueRangeAnalysis.eq

    def canonical(expr: Any) -> Any:
        compares_flags = isinstance(expr, (sympy.Eq, sympy.Ne)) and isinstance(expr.lhs, Boolean)
        return expr if compares_flags else canonicalize(expr)

    def equal_ranges(one: Any, other: Any) -> Any:
        one, other = ValueRanges.wrap(one), ValueRanges.wrap(other)
        if not one.is_bool or not other.is_bool:
            return equal(one, other)
        if one.is_singleton() and other.is_singleton():
            return ValueRanges.wrap(sympy.true if one.lower == other.lower else sympy.false)
        return ValueRanges(sympy.false, sympy.true)

    symbolic_shapes._canonicalize_bool_expr_impl = canonical
    SymPyValueRangeAnalysis.eq = staticmethod(equal_ranges)  # type: ignore[method-assign, assignment]


class _Power(str):
    """How the text of a graph writes a power."""

    def format(self, base: str, exponent: str) -> str:  # type: ignore[override]
        return super().format(f"({base})" if base.startswith("-") else base, exponent)


def repair_texts_of_powers() -> None:
    """Let the texts of graphs say what is raised to a power."""
    magic_methods["pow"] = _Power(magic_methods["pow"])


def repair_closures_without_values() -> None:
    """Let functions be called before all variables around them have values, and be no constants of lists unread."""
    convert: Any = getattr(NestedUserFunctionVariable, "_get_function_impl", None)
    if convert is None:  # torch 2.11
        return

    def get_function(self: Any, *args: Any) -> Any:
        effects = InstructionTranslator.current_tx().output.side_effects
        for cell in self.closure.items if self.closure else ():
            has_value = effects.has_pending_mutation_of_attr(cell, "cell_contents") or cell.pre_existing_contents
            if not has_value:
                raise NotImplementedError("a variable without a value")
            if holds_unread(effects.load_cell(cell)):
                raise NotImplementedError("a list that nothing has looked into yet")
        return convert(self, *args)

    NestedUserFunctionVariable._get_function_impl = get_function  # type: ignore[method-assign, assignment]


@contextlib.contextmanager
def functions_of_constants() -> Iterator[None]:
    """While this is in force, functions that are found in constants of the trace are called without a guard."""
    create: Any = UserFunctionVariable.create_with_source

    def create_with_source(cls: Any, value: Any, source: Any) -> Any:
        is_constant = source.guard_source is GuardSource.CONSTANT
        return cls(value, source=source) if is_constant else create.__func__(cls, value, source)

    with patched(UserFunctionVariable, create_with_source=classmethod(create_with_source)):
        yield


@contextlib.contextmanager
def code_in_closures() -> Iterator[None]:
    """While this is in force, no object of the program is asked to tell functions apart by what they close over."""

    def content(value: Any) -> types.CodeType | None:
        return value.__code__ if isinstance(value, types.FunctionType) else None

    if not hasattr(pgo, "_get_closure_content"):
        yield  # then it is told apart by its own code alone
        return
    with patched(pgo, _get_closure_content=content):
        yield


@contextlib.contextmanager
def reasons_for_new_traces() -> Iterator[None]:
    """While this is in force, a tensor that is gone is no tensor that has become one with another."""
    find = guards.recompilation_reason_for_no_tensor_aliasing_guard

    def reasons(manager: Any, scope: Any) -> list[str]:
        try:
            return find(manager, scope)
        except (AttributeError, LookupError, TypeError):
            return []

    with patched(guards, recompilation_reason_for_no_tensor_aliasing_guard=reasons):
        yield


@contextlib.contextmanager
def integers_of_constants() -> Iterator[None]:
    """While this is in force, integers in constants of the trace are constants, also those that were others before."""
    wrap = VariableBuilder.wrap_symint

    def wrap_symint(self: Any, value: int, *args: Any, **kwargs: Any) -> Any:
        if self.source.guard_source is GuardSource.CONSTANT:
            return ConstantVariable.create(value)
        return wrap(self, value, *args, **kwargs)

    with patched(VariableBuilder, wrap_symint=wrap_symint):
        yield


def repair_quotients_in_facts() -> None:
    """Let torch write facts about quotients of integers into graphs."""
    PythonReferenceAnalysis.int_truediv = staticmethod(operator.truediv)  # type: ignore[method-assign]
