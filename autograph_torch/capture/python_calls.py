"""Calls of Python and torch functions that Dynamo does not take, in a form that it takes.

    dict.copy(d)              d.copy()                                      (so `copy.copy` works on containers)
    nn.Module.__init__(self)  as super().__init__() is, in a class that the function makes an object of
    pickle.dumps(d)           its bytes, for d a constant (keys of caches)
    sorted(d.items())         by the keys alone: no two are the same, so no value is ever compared
    xs.sort(key=f)            runtime/sorting.py, where data tell the order
    xs.__iadd__([x])          xs += [x]: Dynamo forgets it of a list from before the function
    sorted(t)                 sorted(list(t)), for t a tensor
    torch.arange(n)           torch.arange(n.item()), for n a tensor
    torch.arange(2).tolist()  [0, 1]: no data are in it
    torch.as_tensor([x, n])   torch.tensor([x, n]): lists and numbers are copied in any case; so for torch.asarray
    torch.tensor(range(n), dtype=torch.long)   torch.arange(n), for n an integer that depends on data
    z.item(), z.tolist()      complex(z.real.item(), z.imag.item()), for z a complex tensor; and so for complex(z)
    x[mask].item()            ag's own, which checks that there is one element when the graph runs; int(x[mask]), too
    torch.squeeze(x)          x.squeeze(), which capture/squeezes.py looks after
    F.dropout(x, 0.1, False)  x itself, as in eager
    F.one_hot(x)              ag.one_hot(x): the data tell the number of classes; F.one_hot(x, n), too
    F.gaussian_nll_loss(...)  its body, which raises for some data
    is_lazy(parameter)        its body, which asks for a type (`module.load_state_dict`)
    torch.equal(x, y)         ag.equal(x, y), and so for torch.allclose and torch.is_nonzero, also as methods
    super().prop              the property of the base class, called; so for lazy properties of distributions
    torch.sort(x, descending=flag)   two calls under an `if`, with True and False; for all options that are truth values
    torch.linalg.inv(x)       in the bodies of operators: runtime/linalg.py, which keeps the exception
    math.prod(xs)             x * y * ..., where data tell a factor; of a generator, too, as math.fsum and math.dist are
    divmod(n, 2)              (n // 2, n % 2), for n a number that depends on data
    pow(t, 2)                 t ** 2
    operator.truth(t)         bool(t)
    callable(A.matmul)        True, for a method of a tensor
    type(n)                   int, for n a constant: nothing of where it comes from has to be guarded again
    t * numpy.prod(sizes)     t * numpy.prod(sizes).item(): what NumPy gives without dimensions is a number to a tensor
                              and so is a scalar from around the trace (`self.margin = numpy.radians(5)`)
    t.data                    t.detach(), in the bodies of operators: what is written there is seen

Private names of Dynamo: SkipFunctionVariable, ListVariable.call_method, TorchInGraphFunctionVariable, SuperVariable,
BuiltinVariable, TensorVariable.call_method and method_attr_data.
tests/capture/test_python_calls.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import math
import operator
import pickle
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.create_parameter_op import do_not_convert_to_tracable_parameter
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.mutation_guard import unpatched_nn_module_init
from torch._dynamo.utils import np
from torch._dynamo.variables import (
    ConstantVariable,
    ListVariable,
    NumpyNdarrayVariable,
    SymNodeVariable,
    TupleVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.base import AttributeMutationNew, ValueMutationNew, VariableTracker
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable, SkipFunctionVariable, UserFunctionVariable
from torch._dynamo.variables.iter import IteratorVariable
from torch._dynamo.variables.lists import RangeVariable
from torch._dynamo.variables.misc import GetAttrVariable, SuperVariable
from torch._dynamo.variables.tensor import TensorVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.distributions.utils import lazy_property
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE, value_at
from autograph_torch.capture.module_lists import SPECIALIZED
from autograph_torch.capture.numpy_scalars import gives_scalar
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.capture.policy import ASKING_FUNCTIONS
from autograph_torch.capture.settling import refuse_question_of_type
from autograph_torch.runtime import growing, linalg, notes, queries, sorting
from autograph_torch.runtime import math as mathematics
from autograph_torch.runtime.refusal import raise_refusal


@contextlib.contextmanager
def python_calls() -> Iterator[None]:
    """While this is in force, these calls are taken."""
    skipped, listed = SkipFunctionVariable.call_function, method_of(ListVariable, "call_method")
    built_in, of_tensor = BuiltinVariable.call_function, TensorVariable.call_method
    called, looked_up = TorchInGraphFunctionVariable.call_function, getattr(SuperVariable, GET_ATTRIBUTE)
    data_of = TensorVariable.method_attr_data

    def call_skipped(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        method = self.value
        if method is torch.nn.Module.__init__ and len(args) == 1 and not kwargs and _is_being_made(args[0]):
            constructor: Any = unpatched_nn_module_init
            with do_not_convert_to_tracable_parameter():
                return UserFunctionVariable(constructor).call_function(tx, list(args), {})
        if method is pickle.dumps and len(args) == 1 and not kwargs and args[0].is_python_constant():
            return ConstantVariable.create(pickle.dumps(args[0].as_python_constant()))
        if isinstance(method, types.MethodDescriptorType) and args and _is_of(args[0], method.__objclass__):
            return args[0].call_method(tx, method.__name__, list(args[1:]), kwargs)
        if method is copy.copy and args and any(_is_of(args[0], owner) for owner in (dict, list, set)):
            return args[0].call_method(tx, "copy", [], {})  # torch 2.11: later versions look into the function
        return skipped(self, tx, args, kwargs)

    def call_list(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "sort" and set(kwargs) <= {"reverse", "key"} and _has_distinct_keys(self, kwargs):
            backwards = kwargs.get("reverse", ConstantVariable.create(False)).as_python_constant()
            tx.output.side_effects.mutation(self)
            self.items[:] = sorted(self.items, key=_first, reverse=backwards)
            return ConstantVariable.create(None)
        if name == "sort" and not args and set(kwargs) <= {"reverse", "key"} and self.is_mutable() and self.items:
            _sort(self, tx, kwargs)
            return ConstantVariable.create(None)
        if name == "__iadd__" and len(args) == 1 and not kwargs:
            return BuiltinVariable(operator.iadd).call_function(tx, [self, *args], {})
        return listed(self, tx, name, args, kwargs)

    def call_torch(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value is torch.is_tensor and args:
            refuse_question_of_type(args[0], tx)
        if self.value in ASKING_FUNCTIONS or self.value is torch.nn.parameter.is_lazy:
            return UserFunctionVariable(self.value).call_function(tx, args, kwargs)
        if self.value in _OF_ITERABLES:
            lists = [_as_list(tx, arg.realize()) for arg in args]
            if any(one is not arg.realize() for one, arg in zip(lists, args, strict=True)):
                return TorchInGraphFunctionVariable(self.value).call_function(tx, lists, kwargs)
            if self.value is math.prod and not all(one.is_python_constant() for one in (*args, *kwargs.values())):
                product: Any = mathematics.prod
                return UserFunctionVariable(product).call_function(tx, args, kwargs)
        if self.value in _OF_MATH and any(arg.is_tensor() for arg in (*args, *kwargs.values())):
            return _of_numbers(self.value, tx, args, kwargs)
        if self.value is torch.arange:
            args = [arg.call_method(tx, "item", [], {}) if arg.is_tensor() else arg for arg in args]
        copying = _copying(self.value, args, kwargs)
        if copying is not None:
            args, kwargs = [args[0]], copying
            self = TorchInGraphFunctionVariable(torch.tensor)
        if args and isinstance(args[0], RangeVariable) and any(map(_is_from_data, args[0].items)):
            bounds = list(args[0].items)
            if self.value is torch.tensor and _makes_integers(args, kwargs):
                return TorchInGraphFunctionVariable(torch.arange).call_function(tx, bounds, kwargs)
            raise_refusal("AG321", "a range of which data tell the bounds", "write torch.arange(..., dtype=...)")
        if self.value is torch.squeeze and args and args[0].is_tensor():
            return args[0].call_method(tx, "squeeze", list(args[1:]), kwargs)
        if self.value in _DROPOUTS and _drops_nothing(*args, **kwargs):
            return args[0] if args else kwargs["input"]
        question: Any = _QUESTIONS.get(self.value)
        if question is not None:
            return UserFunctionVariable(question).call_function(tx, list(args), kwargs)
        if self.value is torch.nn.functional.one_hot and args and _is_int64(args[0]) and _counts_classes(args, kwargs):
            one_hot: Any = queries.one_hot
            return UserFunctionVariable(one_hot).call_function(tx, list(args), kwargs)
        checked: Any = linalg.CHECKED.get(self.value)
        if checked is not None and "out" not in kwargs and tx.output.current_tracer.parent is not None:
            return UserFunctionVariable(checked).call_function(tx, list(args), kwargs)
        place = _flag_from_data(self.value, args, kwargs)
        if place is not None:
            flag = args[place] if isinstance(place, int) else kwargs[place]
            given = [self, flag, ConstantVariable.create(place), TupleVariable(list(args))]
            with_known: Any = queries.with_known
            return UserFunctionVariable(with_known).call_function(tx, given, kwargs)
        return called(self, tx, args, kwargs)

    def call_tensor(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name in ("inverse", "matrix_power", "equal", "allclose", "is_nonzero"):
            return TorchInGraphFunctionVariable(getattr(torch, name)).call_function(tx, [self, *args], kwargs)
        if name in ("item", "tolist") and self.dtype.is_complex:
            complex_of: Any = queries.complex_number if name == "item" else queries.complex_numbers
            return UserFunctionVariable(complex_of).call_function(tx, [self, *args], kwargs)
        if name == "item" and has_free_unbacked_symbols(_value(self).shape):
            return _item(self, tx, converts=False)
        if name == "tolist" and not args and not kwargs:
            counted = _counted(self.as_proxy().node)
            if counted is not None:
                return VariableTracker.build(tx, counted)
            if _is_of_unknown_length(self) and notes.lists_numbers():
                numbers_of: Any = growing.numbers_of
                return UserFunctionVariable(numbers_of).call_function(tx, [self], {})
            if _is_of_unknown_length(self) and not _is_integral(self):  # Dynamo would not say why
                raise_refusal("AG321", f"{SPECIALIZED}, the length of a list of floats", "keep the value a tensor")
        return of_tensor(self, tx, name, args, kwargs)

    def data(self: Any, tx: Any) -> Any:
        in_a_body = tx.output.current_tracer.parent is not None
        return self.call_method(tx, "detach", [], {}) if in_a_body else data_of(self, tx)

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn in (isinstance, type) and args:
            refuse_question_of_type(args[0], tx)
        if self.fn is complex and len(args) == 1 and type(args[0].realize()) is TensorVariable:
            doubles = args[0].call_method(tx, "to", [VariableTracker.build(tx, torch.complex128)], {})
            return doubles.call_method(tx, "item", [], {})
        if self.fn in (int, float) and args and type(args[0].realize()) is TensorVariable:
            if has_free_unbacked_symbols(_value(args[0]).shape):
                args = [_item(args[0], tx, converts=True)]
        if self.fn is range and not kwargs and any(_is_from_data(arg) for arg in args):
            return _range_from_data(args)
        if self.fn is type and len(args) == 1 and type(args[0].realize()) is ConstantVariable:
            return VariableTracker.build(tx, args[0].python_type())
        if self.fn is sorted and args and type(args[0].realize()) is TensorVariable:
            args = [VariableTracker.build(tx, list).call_function(tx, list(args), {})]
        if self.fn is callable and len(args) == 1 and _is_method_of_tensor(args[0]):
            return ConstantVariable.create(True)
        if self.fn is pow and len(args) == 2 and not kwargs:
            self = BuiltinVariable(operator.pow)
        if self.fn is operator.truth:
            self = BuiltinVariable(bool)
        if self.fn is divmod and len(args) == 2 and any(isinstance(arg, SymNodeVariable) for arg in args):
            both: Any = mathematics.divided
            return UserFunctionVariable(both).call_function(tx, list(args), {})
        if self.fn in _ARITHMETIC and any(type(arg.realize()) is TensorVariable for arg in args):
            types = {_value(arg).dtype for arg in args if type(arg.realize()) in (TensorVariable, NumpyNdarrayVariable)}
            if len(types) > 1:
                args = [_number(arg, tx) if _is_scalar_of_numpy(arg, tx) else arg for arg in args]
        return built_in(self, tx, args, kwargs)

    def getattr_of_super(self: Any, tx: Any, name: str) -> Any:
        value, _ = self._resolved_getattr_and_source(tx, name)
        if isinstance(value, property) and isinstance(value.fget, types.FunctionType):
            return UserFunctionVariable(value.fget).call_function(tx, [self.objvar], {})
        if isinstance(value, lazy_property):
            computed: Any = queries.computed_once
            wrapped: Any = value.wrapped
            given = [self.objvar, ConstantVariable.create(name), UserFunctionVariable(wrapped)]
            return UserFunctionVariable(computed).call_function(tx, given, {})
        return looked_up(self, tx, name)

    with (
        patched(SkipFunctionVariable, call_function=call_skipped),
        patched(ListVariable, call_method=call_list),
        patched(TorchInGraphFunctionVariable, call_function=call_torch),
        patched(SuperVariable, **{GET_ATTRIBUTE: getattr_of_super}),
        patched(BuiltinVariable, call_function=call_builtin),
        patched(TensorVariable, call_method=call_tensor, method_attr_data=data),
    ):
        yield


_QUESTIONS = {
    torch.equal: queries.equal,
    torch.allclose: queries.allclose,
    torch.is_nonzero: queries.is_nonzero,
}


def _is_being_made(variable: Any) -> bool:
    """Whether it is an object of a class that the function has made, so that its attributes are the tracer's."""
    return isinstance(variable, UserDefinedObjectVariable) and isinstance(variable.mutation_type, AttributeMutationNew)


def _is_method_of_tensor(variable: Any) -> bool:
    found = variable.realize()
    of_tensor = type(found) is GetAttrVariable and type(found.obj.realize()) is TensorVariable
    return of_tensor and callable(getattr(torch.Tensor, found.name, None))


def _item(tensor: Any, tx: Any, converts: bool) -> Any:
    """The element of a tensor of which data tell whether it has one."""
    item: Any = queries.item
    return UserFunctionVariable(item).call_function(tx, [tensor, ConstantVariable.create(converts)], {})


def _counted(node: torch.fx.Node) -> list[int] | None:
    """The elements of a tensor that has just been made by torch.arange from constants."""
    made = node.target is torch.arange and not node.users and set(node.kwargs) <= {"device"}
    if not made or not node.args or any(type(bound) is not int for bound in node.args):
        return None
    return list(range(*node.args))  # type: ignore[arg-type]


def _range_from_data(args: Any) -> RangeVariable:
    """A range of which data tell the bounds: Dynamo asks for them when it makes one, this one when it is used."""
    first, step = ConstantVariable.create(0), ConstantVariable.create(1)
    made = RangeVariable([first])
    made.items = [first, *args, step] if len(args) == 1 else [*args, step][:3]
    return made


def _makes_integers(args: Any, kwargs: Any) -> bool:
    """Whether `torch.tensor` is told to make 64-bit integers: without a type, an empty range gives floats."""
    if len(args) != 1 or "dtype" not in kwargs or not set(kwargs) <= {"dtype", "device"}:
        return False
    return kwargs["dtype"].is_python_constant() and kwargs["dtype"].as_python_constant() is torch.int64


def _is_from_data(variable: Any) -> bool:
    is_integer = isinstance(variable, SymNodeVariable) and isinstance(variable.sym_num, torch.SymInt)
    return is_integer and has_free_unbacked_symbols(variable.sym_num)


def _flag_from_data(function: Any, args: Any, kwargs: Any) -> int | str | None:
    """Where a function of torch is given a truth value that depends on data, but needs a constant: the first such."""
    given = (*enumerate(args), *kwargs.items())
    flags = [key for key, value in given if isinstance(value, SymNodeVariable) and _is_flag_from_data(value)]
    return next((key for key in flags if _is_option(function, key)), None)


def _is_flag_from_data(variable: Any) -> bool:
    number = variable.sym_num
    return isinstance(number, torch.SymBool) and has_free_unbacked_symbols(number)


def _is_option(function: Any, key: int | str) -> bool:
    """Whether an argument decides which code of torch runs; others (`torch.full(size, flag)`) are values."""
    if isinstance(function, types.FunctionType):
        names = list(inspect.signature(function).parameters)
        name = names[key] if isinstance(key, int) and key < len(names) else key
        return function.__module__ == torch.nn.functional.__name__ and str(name) != "value"
    operator_ = getattr(torch.ops.aten, getattr(function, "__name__", ""), None)
    schemas = [getattr(operator_, overload)._schema for overload in operator_.overloads()] if operator_ else []
    arguments = [found for schema in schemas for at, found in enumerate(schema.arguments) if key in (at, found.name)]
    return bool(arguments) and all(isinstance(found.type, torch.BoolType) for found in arguments)


def _is_of_unknown_length(tensor: Any) -> bool:
    """Whether a tensor has one dimension, whose size data tell."""
    value = _value(tensor)
    return value.ndim == 1 and has_free_unbacked_symbols(value.shape)


def _is_integral(tensor: Any) -> bool:
    value = _value(tensor)
    return not value.is_floating_point() and not value.is_complex() and value.dtype != torch.bool


def _is_int64(variable: Any) -> bool:
    return variable.is_tensor() and _value(variable).dtype == torch.int64


def _drops_nothing(input: Any, p: Any = 0.5, training: Any = True, *_: Any, **__: Any) -> bool:
    """Whether `F.dropout` hands back what it is given, and is given a probability that it takes."""
    p, training = (_constant(one) for one in (p, training))
    return input.is_tensor() and isinstance(p, (int, float)) and 0 <= p <= 1 and (training is False or p == 0)


def _constant(value: Any) -> Any:
    """What the trace knows a value to be, by a guard where it is from outside; else the variable."""
    value = value.realize() if isinstance(value, VariableTracker) else value
    return value.as_python_constant() if isinstance(value, ConstantVariable) else value


def _counts_classes(args: Any, kwargs: Any) -> bool:
    """Whether the data may tell the number of classes: none is given, or one that is no constant."""
    given = [*args[1:], *kwargs.values()]
    return not given or not given[0].is_python_constant()


def _is_scalar_of_numpy(variable: Any, tx: Any) -> bool:
    """Whether it is a scalar of NumPy: a number to torch, whose type does not count where it meets a tensor.

    Raises:
        CaptureError: it may as well be an array without dimensions, whose type counts.
    """
    if not isinstance(variable.realize(), NumpyNdarrayVariable) or _value(variable).ndim > 0:
        return False
    if _is_given_scalar(variable.realize().source, tx):
        return True
    if not gives_scalar(variable.realize().as_proxy().node):
        raise_refusal(
            "AG320",
            "an array of NumPy without dimensions meets a tensor of another type",
            "make it a number with float(...), or a tensor",
        )
    return True


def _is_given_scalar(source: Any, tx: Any) -> bool:
    """Whether it comes from around the trace, and is a scalar there (`self.margin = np.radians(5)`)."""
    if source is None:
        return False
    value = value_at(source, tx)
    if not isinstance(value, np.generic):
        return False
    install_guard(source.make_guard(GuardBuilder.TYPE_MATCH))
    return True


def _of_numbers(function: Any, tx: Any, args: Any, kwargs: Any) -> Any:
    """A function of Python's math, which takes a tensor for its number."""
    numbers = [_item_of(arg, tx) for arg in args]
    kwargs = {key: _item_of(arg, tx) for key, arg in kwargs.items()}
    of_data: Any = getattr(mathematics, function.__name__, None)
    called = TorchInGraphFunctionVariable(function) if of_data is None else UserFunctionVariable(of_data)
    return called.call_function(tx, numbers, kwargs)


def _item_of(value: Any, tx: Any) -> Any:
    return value.call_method(tx, "item", [], {}) if value.is_tensor() else value


def _as_list(tx: Any, iterable: Any) -> Any:
    """What an iterator gives."""
    is_iterator = isinstance(iterable, (IteratorVariable, LocalGeneratorObjectVariable))
    return VariableTracker.build(tx, list).call_function(tx, [iterable], {}) if is_iterator else iterable


_DROPOUTS = (torch.dropout, torch.nn.functional.dropout, torch.nn.functional.alpha_dropout)
_OF_ITERABLES = (math.prod, math.fsum, math.dist)
_OF_MATH = frozenset(one for one in vars(math).values() if callable(one)) - {math.trunc}  # which tensors do not have
_OPERATIONS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_ARITHMETIC = frozenset(
    getattr(operator, name) for name in (*_OPERATIONS, *(f"i{name}" for name in _OPERATIONS), *_COMPARISONS)
)


def _number(array: Any, tx: Any) -> Any:
    tensor = TorchInGraphFunctionVariable(torch.as_tensor).call_function(tx, [array], {})
    return tensor.call_method(tx, "item", [], {})


def _value(variable: Any) -> Any:
    return variable.realize().as_proxy().node.meta["example_value"]


def _is_of(variable: Any, owner: type) -> bool:
    try:
        return owner in (dict, list, set, tuple, str) and variable.python_type() is owner
    except NotImplementedError:
        return False


def _has_distinct_keys(variable: Any, kwargs: Any) -> bool:
    """Whether it is a list of pairs with different constants in front, and something that is no constant behind."""
    if "key" in kwargs and not kwargs["key"].is_constant_none():
        return False
    items = [item.realize() for item in variable.items]
    if not all(isinstance(item, TupleVariable) and item.items for item in items):
        return False
    if all(item.is_python_constant() for item in items):
        return False
    keys = [item.items[0] for item in items]
    if not all(key.is_python_constant() for key in keys):
        return False
    constants = [key.as_python_constant() for key in keys]
    alike = any(all(isinstance(one, kinds) for one in constants) for kinds in (str, (int, float)))
    return alike and len(set(constants)) == len(keys) and all(one == one for one in constants)


def _sort(variable: Any, tx: Any, kwargs: Any) -> None:
    """`xs.sort(...)`. A list of which all keys are known is sorted here, so that keys are computed once."""
    key = kwargs.get("key", ConstantVariable.create(None))
    backwards = kwargs.get("reverse", ConstantVariable.create(False)).as_python_constant()
    items = list(variable.items)
    keys = items if key.is_constant_none() else [key.call_function(tx, [item], {}) for item in items]
    if all(one.is_python_constant() for one in keys):
        order = sorted(range(len(items)), key=lambda k: keys[k].as_python_constant(), reverse=backwards)
        ordered = [items[k] for k in order]
    else:
        in_order: Any = sorting.in_order
        lists = [ListVariable(one, mutation_type=ValueMutationNew()) for one in (items, list(keys))]
        found: Any = UserFunctionVariable(in_order).call_function(tx, [*lists, ConstantVariable.create(backwards)], {})
        ordered = found.items
    tx.output.side_effects.mutation(variable)
    variable.items[:] = ordered


def _copying(function: Any, args: Any, kwargs: Any) -> dict[str, Any] | None:
    """The options of `torch.tensor` for a call that copies what it is given, as that does; None for other calls."""
    if function not in (torch.as_tensor, torch.asarray) or not args:
        return None
    given = {**dict(zip(("dtype", "device"), args[1:], strict=False)), **kwargs}
    found = args[0].realize()
    if len(args) > 3 or not set(given) <= {"dtype", "device"} or (len(args) > 1 and function is torch.asarray):
        return None
    return given if type(found) in (ListVariable, TupleVariable, SymNodeVariable) else None


def _first(item: Any) -> Any:
    return item.items[0].as_python_constant()
