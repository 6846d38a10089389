"""Plans as straight-line code.

    write_encoder(spec, plan)    code that takes a value apart into the tensors that travel
    write_decoder(plan)          code that puts it together again

Dynamo interprets what it traces, bytecode by bytecode. A walk over a plan would be interpreted for every leaf of both
branches of every `if`; so the walk happens here, once, in real Python, and what is traced is the code it writes:

    [value[0].clone(memory_format=torch.contiguous_format), torch.scalar_tensor(value[1], dtype=torch.int64)]
    ((tensor0 := leaves[0]), leaves[1].item(), originals[0], tensor0)

`encode` and `decode` stand for that code: the tracer's hook (capture/inlining.py) puts it in their place.

Every tensor is cloned on its way out: torch's operators refuse results that alias an input, a closed-over tensor or
each other (and under no_grad notice it only in Inductor).

`as_float`: integers and truth values travel as floats, for torch.cond cannot have results without a gradient beside
results with one (torch 2.13: "outs_to_grad length != tangents length").
"""

from __future__ import annotations

import builtins
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from autograph_torch.runtime.alternatives import alternative
from autograph_torch.runtime.either import either, number_flag
from autograph_torch.runtime.instances import attributed, copied, put_together
from autograph_torch.runtime.layout import (
    CONTAINERS,
    MAPPINGS,
    NUMBER_DTYPES,
    SHARED,
    Plan,
    Spec,
    count,
    describe,
    travel,
)
from autograph_torch.runtime.open_contents import open_contents, opened
from autograph_torch.runtime.picked import picked, place_of
from autograph_torch.runtime.picking import Choice, chosen, of_constants
from autograph_torch.runtime.refusal import raise_refusal, refuse
from autograph_torch.runtime.reordering import inverse, reordered
from autograph_torch.runtime.shrinking import rows_of
from autograph_torch.runtime.tuples import is_of_torch, is_plainly_named, tuple_of
from autograph_torch.runtime.values import HOLE, Maybe, Undefined

_ABSENT: Spec = ("hole",)


def thing(number: int, found: Any = None) -> Any:
    """The object of a number (see structure.number_of). (Filled in by the tracer.)"""
    return found


# What the text of the code needs beside its constants.
_NAMES = {
    "torch": torch,
    "Choice": Choice,
    "chosen": chosen,
    "copied": copied,
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "attributed": attributed,
    "defaultdict": defaultdict,
    "deque": deque,
    "either": either,
    "number_flag": number_flag,
    "of_constants": of_constants,
    "open_contents": open_contents,
    "opened": opened,
    "picked": picked,
    "place_of": place_of,
    "put_together": put_together,
    "reordered": reordered,
    "rows_of": rows_of,
    "thing": thing,
    "tuple_of": tuple_of,
    "Maybe": Maybe,
    "Undefined": Undefined,
    "HOLE": HOLE,
}

# The number of a piece of code, and the constants that its text names K[0], K[1], ...
Written = tuple[int, tuple[Any, ...]]
_written: list[types.CodeType] = []


def encode(written: Written, value: Any) -> list[torch.Tensor]:
    """The tensors that carry `value`; places that it leaves out are filled with zeros."""
    return _without_hook(written, value)


def decode(
    written: Written, leaves: Sequence[torch.Tensor], originals: tuple[Any, ...] = (), handed: tuple[Any, ...] = ()
) -> Any:
    """The value again: of its leaves, of the objects it came from, and of those handed through."""
    return _without_hook(written, leaves, originals, handed)


def _without_hook(*_: Any) -> Any:
    return refuse(
        "AG320",
        "this version of torch has no place for the tracer's hook",
        "use a torch from 2.11 to 2.13",
    )


STANDS_FOR: Callable[[types.CodeType], bool] = frozenset({encode.__code__, decode.__code__}).__contains__


def code_of(number: int) -> types.CodeType:
    """What the tracer runs in the place of `encode` or `decode`."""
    return _written[number]


def decode_now(written: Written, leaves: Sequence[torch.Tensor]) -> Any:
    """The value again, outside of a trace."""
    return types.FunctionType(_written[written[0]], dict(_NAMES))(written, leaves, (), ())


def write_encoder(spec: Spec, plan: Plan, as_float: bool = False) -> Written:
    """Code that takes a value of the form `spec` apart by a plan."""
    writer = _Writer(as_float)
    writer.encode("value", spec, plan)
    return writer.finish(encode, f"[{', '.join(writer.leaves)}]")


def write_decoder(
    plan: Plan,
    as_float: bool = False,
    for_branch: bool = False,
    picks: bool = False,
    constants: frozenset[tuple[int, ...]] = frozenset(),
) -> Written:
    """Code that puts a value together again by a plan.

    picks: what depends on data is picked behind the graph. constants: the places of numbers picked from constants.
    """
    writer = _Writer(as_float, for_branch, picks, constants)
    return writer.finish(decode, writer.decode(plan, ()))


def has_float_leaf(plan: Plan) -> bool:
    """Whether some leaf of a plan is a floating-point tensor, and the others therefore travel as floats."""
    if plan[0] in CONTAINERS:
        return any(has_float_leaf(part) for part in plan[2])
    return (plan[0] == "tensor" and plan[1].is_floating_point) or plan == ("number", "float")


@dataclass
class _Writer:
    """The text of one function, and the constants it names."""

    as_float: bool
    for_branch: bool = False
    picks: bool = False
    of_constants: frozenset[tuple[int, ...]] = frozenset()
    leaves: list[str] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    made: dict[tuple[int, ...], str] = field(default_factory=dict)  # tensors by their place in the value
    used: int = 0

    def finish(self, stub: Callable[..., Any], result: str) -> Written:
        parameters = stub.__code__.co_varnames[: stub.__code__.co_argcount]
        text = f"lambda {', '.join(parameters)}: {result}"
        # Under the name of this file: the frame is none of the user's.
        _written.append(eval(compile(text, __file__, "eval"), dict(_NAMES)).__code__)
        return len(_written) - 1, tuple(self.constants)

    def constant(self, value: Any) -> str:
        if value is None or type(value) in (bool, int, str, torch.dtype):
            return repr(value)
        kind: Any = value
        if isinstance(value, type) and getattr(builtins, kind.__name__, None) is value:
            return str(kind.__name__)
        self.constants.append(value)
        return f"written[1][{len(self.constants) - 1}]"

    # -- taking apart -----------------------------------------------------------------------------------------------

    def encode(self, path: str, spec: Spec, plan: Plan) -> None:
        kind = plan[0]
        if kind == "choice":
            return self._encode_choice(path, spec, plan)
        if spec[0] in SHARED:
            spec = spec[2]
        if kind == "maybe":
            self._encode_maybe(path, spec, plan)
        elif kind == "either":
            self._encode_either(path, spec, plan)
        elif kind == "shrinking":
            number = "0" if _absent(spec) else f"{path}.shape[0]"
            self._leaf(f"torch.scalar_tensor({number}, dtype=torch.int64)", torch.int64)
            self.encode(path, spec, plan[2][0])
        elif kind == "open contents" and not _absent(spec):
            path = f"open_contents({path})"
            for k, part in enumerate(plan[2]):
                self.encode(f"{path}[{k}]", spec[2][k], part)
        elif kind == "defaultdict":
            self.encode(path, _ABSENT if _absent(spec) else spec[2][0], plan[2][0])
        elif kind == "attributed":
            for k, inner in enumerate((path, f"{path}.__dict__")):
                self.encode(inner, _ABSENT if _absent(spec) else spec[2][k], plan[2][k])
        elif kind in CONTAINERS:
            if not _absent(spec) and len(spec[2]) != len(plan[2]):  # of an object that both branches give, it is known
                message = f"the branches give one object with {describe(plan)} and with {describe(spec)} in it"
                raise_refusal("AG310", message, "leave its lists and dicts with the same number of elements")
            for k, part in enumerate(plan[2]):
                inner = f"{path}.{plan[1][1][k]}" if kind in ("record", "instance") else f"{path}[{self._key(plan, k)}]"
                self.encode(inner, _ABSENT if _absent(spec) else spec[2][k], part)
        elif kind == "tensor":
            self._leaf(self._tensor(path, spec, plan), plan[1])
        elif kind == "picked":
            self._leaf(self._place(path, spec, plan), torch.int64)
        elif kind == "number":
            dtype = NUMBER_DTYPES[plan[1]]
            value = "0" if _absent(spec) else path
            self._leaf(f"torch.scalar_tensor({value}, dtype={dtype})", dtype)

    def _key(self, plan: Plan, k: int) -> str:
        return self.constant(plan[1][k][1]) if plan[0] in MAPPINGS else str(k)

    def _encode_maybe(self, path: str, spec: Spec, plan: Plan) -> None:
        if spec[0] == "maybe":
            self._leaf(f"{path}.flag.clone()", torch.bool)
            self.encode(f"{path}.value", spec[2][0], plan[2][0])
        else:
            self._leaf(f"torch.full((), {not _absent(spec)})", torch.bool)
            self.encode(path, spec, plan[2][0])

    def _encode_either(self, path: str, spec: Spec, plan: Plan) -> None:
        if spec[0] == "either":
            self._leaf(f"number_flag({path}).clone()", torch.bool)
            spec = spec[2][0]
        else:
            self._leaf(f"torch.full((), {spec[0] in ('number', 'const')})", torch.bool)
        self.encode(path, spec, plan[2][0])

    def _encode_choice(self, path: str, spec: Spec, plan: Plan) -> None:
        """Which alternative it is, and all of them; zeros for those that it is not."""
        own = spec[2] if spec[0] == "choice" else () if _absent(spec) else (spec,)
        places = [alternative(plan, one) for one in own]
        if spec[0] == "choice":
            which = f"{path}.which.clone()"
            for k, place in enumerate(places):
                if place != k:
                    which = f"torch.where({path}.which == {k}, {place}, {which})"
        else:
            which = f"torch.scalar_tensor({places[0] if places else 0}, dtype=torch.int64)"
        self._leaf(which, torch.int64)
        for number, part in enumerate(plan[2]):
            if number not in places:
                self.encode(path, _ABSENT, part)
            elif spec[0] == "choice":
                self._encode_one_of(path, {k: own[k] for k, place in enumerate(places) if place == number}, part)
            else:
                self.encode(path, spec, part)

    def _encode_one_of(self, path: str, values: dict[int, Spec], plan: Plan) -> None:
        """Of several values of a choice that are one alternative here, the one that it is.

        An object from around an inner branch and one that the branch has made look alike to the branch around both.
        """
        first, *others = values
        begin = len(self.leaves)
        self.encode(f"{path}.values[{first}]", values[first], plan)
        for k in others:
            end = len(self.leaves)
            self.encode(f"{path}.values[{k}]", values[k], plan)
            found, self.leaves[end:] = self.leaves[end:], []
            for place, leaf in enumerate(found, begin):
                self.leaves[place] = f"torch.where({path}.which == {k}, {leaf}, {self.leaves[place]})"

    def _place(self, path: str, spec: Spec, plan: Plan) -> str:
        """Which of the constants it is."""
        if spec[0] != "picked":
            return f"torch.scalar_tensor({0 if _absent(spec) else plan[1].index(spec)}, dtype=torch.int64)"
        which = f"place_of({path}).clone()"
        for k, one in enumerate(spec[1]):
            place = plan[1].index(one)
            if place != k:
                which = f"torch.where(place_of({path}) == {k}, {place}, {which})"
        return which

    def _tensor(self, path: str, spec: Spec, plan: Plan) -> str:
        _, dtype, sizes, device, _, order = plan
        made = f"dtype={dtype}, device={device!r}"
        if _absent(spec):
            travelling = sizes if order is None else [sizes[k] for k in order]
            return f"torch.zeros({[1 if size == -1 else size for size in travelling]}, {made})"
        if spec[0] != "tensor":
            return f"torch.scalar_tensor({path}, {made})"
        if len(spec[2]) < 2:
            return f"{path}.clone(memory_format=torch.contiguous_format)"
        # In row-major order by way of one dimension, which leaves Inductor no other layout to choose.
        if order is None:
            return f"{path}.reshape(-1).clone().reshape({path}.shape)"
        return f"(travelling := reordered({path}, {order})).reshape(-1).clone().reshape(travelling.shape)"

    def _leaf(self, text: str, dtype: torch.dtype) -> None:
        """The same bits as float64 where that is asked for; no arithmetic is ever done with them."""
        self.leaves.append(text + ".to(torch.int64).view(torch.float64)" if self._disguised(dtype) else text)

    def _disguised(self, dtype: torch.dtype) -> bool:
        return self.as_float and not dtype.is_floating_point and not dtype.is_complex

    # -- putting together -------------------------------------------------------------------------------------------

    def decode(self, plan: Plan, path: tuple[int, ...]) -> str:
        kind = plan[0]
        if kind == "tensor":
            self.made[path] = f"tensor{self.used}"
            leaf = self._own_gradient(self._next_leaf(plan[1]), plan)
            laid_out = leaf if plan[5] is None else f"reordered({leaf}, {inverse(plan[5])})"
            return f"({self.made[path]} := {laid_out})"
        if kind == "number":
            number = f"{self._next_leaf(NUMBER_DTYPES[plan[1]])}.item()"
            return f"of_constants({number})" if path in self.of_constants else number
        if kind == "const":
            if self.for_branch and isinstance(plan[1], (bool, int, float)):
                self.used += 1  # it travelled in case the branches gave different numbers
            return self.constant(plan[1])
        if kind in ("same", "open"):
            return f"originals[{plan[1]}]"
        if kind == "outer":
            self.made[path] = f"tensor{self.used}"
            self.used += count(travel(plan))  # it travelled in case the other branch gave another one
            return f"({self.made[path]} := thing({plan[1]}))"
        if kind == "again":
            return self.made[plan[1]]
        if kind == "set":
            return f"{{{', '.join(self.constant(member) for _, member in plan[1])}}}" if plan[1] else "set()"
        if kind == "object":
            return f"handed[{plan[1]}]"
        if kind in ("thing", "member"):
            return f"thing({plan[1]})"
        if kind == "picked":
            which = self._next_leaf(torch.int64)
            return f"picked({which}, ({''.join(f'{self.decode(one, path)}, ' for one in plan[1])}))"
        if kind == "undefined":
            return f"Undefined({plan[1]!r})"
        if kind == "hole":
            return "HOLE"
        if kind == "maybe":
            return f"Maybe({self._next_leaf(torch.bool)}, {self.decode(plan[2][0], (*path, 0))}, {plan[1]!r})"
        if kind == "either":
            flag = self._next_leaf(torch.bool)
            return f"either({self.decode(plan[2][0], path)}, {flag}, {plan[1]!r})"
        if kind == "choice":
            return self._choice(plan, path)
        if kind == "shrinking":
            number = self._next_leaf(torch.int64)
            self.made[path] = f"tensor{self.used}"
            return f"({self.made[path]} := rows_of({number}, {self._next_leaf(plan[2][0][1])}))"
        return self._container(plan, [self.decode(part, (*path, k)) for k, part in enumerate(plan[2])])

    def _choice(self, plan: Plan, path: tuple[int, ...]) -> str:
        which = self._next_leaf(torch.int64)
        values = "".join(f"{self.decode(part, (*path, -1 - k))}, " for k, part in enumerate(plan[2]))
        self.made[path] = f"choice{self.used}"
        return f"({self.made[path]} := {'chosen' if self.picks else 'Choice'}({which}, ({values})))"

    def _container(self, plan: Plan, parts: list[str]) -> str:
        kind = plan[0]
        if kind in MAPPINGS:
            items = (f"{self.constant(key)}: {part}" for (_, key), part in zip(plan[1], parts, strict=True))
            entries = f"{{{', '.join(items)}}}"
            return entries if kind == "dict" else f"{MAPPINGS[kind].__name__}({entries})"
        if kind == "deque":
            return f"deque([{', '.join(parts)}], {plan[1]})"
        if kind == "defaultdict":
            return f"defaultdict({self.constant(plan[1])}, {parts[0]})"
        if kind == "attributed":
            return f"attributed({parts[0]}, {parts[1]})"
        if kind == "named" and plan[1] is torch.Size:
            return f"torch.Size([{', '.join(parts)}])"
        if kind == "named" and is_of_torch(plan[1]):
            return f"copied(torch.return_types.{plan[1].__name__}(({', '.join(parts)})))"
        if kind == "named" and is_plainly_named(plan[1]):
            return f"copied({self.constant(plan[1])}({', '.join(parts)}))"
        if kind == "named":
            return f"copied(tuple_of({self.constant(plan[1])}, ({''.join(part + ', ' for part in parts)})))"
        if kind == "record":
            fields = (f"{name}={part}" for name, part in zip(plan[1][1], parts, strict=True))
            made = f"{self.constant(plan[1][0])}({', '.join(fields)})"
            return f"copied({made})" if plan[1][0].__dataclass_params__.frozen else made
        if kind == "open contents":
            return f"opened({plan[1]()}, ({''.join(part + ', ' for part in parts)}))"
        if kind == "instance":
            made, names = (self.constant(one) for one in plan[1])
            return f"put_together({made}, {names}, ({''.join(part + ', ' for part in parts)}))"
        return f"({''.join(part + ', ' for part in parts)})" if kind == "tuple" else f"[{', '.join(parts)}]"

    def _own_gradient(self, leaf: str, plan: Plan) -> str:
        """Every result of a torch.cond requires a gradient when one of its inputs does."""
        if not self.for_branch or plan[4] or not (plan[1].is_floating_point or plan[1].is_complex):
            return leaf
        return f"({leaf}.detach() if {leaf}.requires_grad else {leaf})"

    def _next_leaf(self, dtype: torch.dtype) -> str:
        leaf = f"leaves[{self.used}]"
        self.used += 1
        if not self._disguised(dtype):
            return leaf
        return f"{leaf}.detach().view(torch.int64).to({dtype})"


def _absent(spec: Spec) -> bool:
    return spec[0] in ("hole", "undefined")
