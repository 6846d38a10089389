"""Functions below a converted one are converted when Dynamo reaches them, and nothing else is."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.exc import Unsupported
from torch._dynamo.symbolic_convert import InliningInstructionTranslator

from autograph_torch import CaptureError, autograph, convert, do_not_convert
from autograph_torch.capture import inlining
from tests.capture import third_party

X = torch.tensor([1.0, 2.0])
INPUTS = (X, -X, X * 100, -X * 100)


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return torch.compile(convert(function, **options), backend="eager", fullgraph=True)


def agrees(function: Callable[..., Any]) -> None:
    """The converted function, captured as one graph, gives what the function gives."""
    captured = compiled(function)
    for x in INPUTS:
        torch.testing.assert_close(captured(x), function(x), rtol=0, atol=0)


def test_function_of_another_module() -> None:
    agrees(lambda x: third_party.clip(x) + 1)


def test_any_depth() -> None:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else third_party.clip(-x)

    def middle(x: torch.Tensor) -> torch.Tensor:
        return inner(x) + inner(x + 1)

    agrees(lambda x: middle(x) * 2)


def test_user_recursion() -> None:
    def power(x: torch.Tensor, n: int) -> torch.Tensor:
        if n == 0:
            return x
        if x.sum() > 50:
            return x - 1
        return power(x * 2, n - 1)

    agrees(lambda x: power(x, 3))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: third_party.Bound(2.0)(x),
        lambda x: third_party.Bound(2.0)[x],
        lambda x: third_party.Bound(2.0).above(x),
        lambda x: third_party.Bound.sign(x),
        lambda x: third_party.Bound.make(x),
        lambda x: third_party.Holder(x).positive,
        lambda x: functools.partial(third_party.clip)(x),
        lambda x: functools.partial(third_party.Bound(1.0))(x),
        lambda x: sum(third_party.clip(x * i) for i in range(3)),
        lambda x: torch.stack(list(map(third_party.clip, [x, x * 2]))),
        lambda x: functools.reduce(lambda a, b: a + third_party.clip(b), [x, x * 2]),
    ],
    ids=["call", "subscript", "method", "static method", "class method", "property", "partial", "partial of an object",
         "generator", "map", "reduce"],
)  # fmt: skip
def test_ways_of_being_reached(call: Callable[..., Any]) -> None:
    agrees(call)


def test_local_function_that_closes_over_a_tensor() -> None:
    def outer(x: torch.Tensor) -> torch.Tensor:
        y = x * 2

        def inner(scale: float) -> torch.Tensor:
            if y.sum() > 0:
                return y * scale
            return x

        return inner(3.0) + inner(4.0)

    agrees(outer)


def test_closure_made_by_a_factory() -> None:
    def factory(weight: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
        def apply(x: torch.Tensor) -> torch.Tensor:
            if (x * weight).sum() > 0:
                return x * weight
            return x

        return apply

    apply = factory(torch.tensor([2.0, -0.5]))
    agrees(lambda x: apply(x))
    agrees(apply)


def test_nonlocal_of_a_function_reached() -> None:
    def outer(x: torch.Tensor) -> torch.Tensor:
        count = 0

        def step(y: torch.Tensor) -> torch.Tensor:
            nonlocal count
            count += 1
            return y + 1 if y.sum() > 0 else y - 1

        return step(step(x)) + count

    agrees(outer)


@pytest.mark.parametrize("kind", ["forward_pre_hook", "forward_hook"])
def test_hooks(kind: str) -> None:
    model = torch.nn.Linear(2, 2)

    def before(module: torch.nn.Module, args: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        return (third_party.clip(args[0]),)

    def after(module: torch.nn.Module, args: Any, result: torch.Tensor) -> torch.Tensor:
        return result if result.sum() > 0 else -result

    if kind == "forward_hook":
        model.register_forward_hook(after)
    else:
        model.register_forward_pre_hook(before)
    agrees(lambda x: model(x))
    captured = torch.compile(convert(model), backend="eager", fullgraph=True)
    for x in INPUTS:
        torch.testing.assert_close(captured(x), model(x), rtol=0, atol=0)


def test_context_manager() -> None:
    class Scaled:
        def __init__(self, x: torch.Tensor) -> None:
            self.x = x

        def __enter__(self) -> torch.Tensor:
            return self.x * 2 if self.x.sum() > 0 else self.x

        def __exit__(self, *_: object) -> None:
            pass

    def program(x: torch.Tensor) -> torch.Tensor:
        with Scaled(x) as scaled:
            return scaled + 1

    agrees(program)


def test_functions_in_containers() -> None:
    table: dict[str, Callable[..., Any]] = {"clip": third_party.clip, "bound": third_party.Bound(1.0)}
    agrees(lambda x: table["bound"](table["clip"](x)))


def test_same_function_with_a_tensor_and_with_a_number() -> None:
    def positive(v: Any) -> Any:
        if v > 0:
            return v
        return -v

    agrees(lambda x: positive(x.sum()) + positive(-3))


def test_plain_compile_is_left_alone() -> None:
    compiled(third_party.clip)(X)  # the hook is in place
    with pytest.raises(Unsupported):
        torch.compile(lambda x: third_party.clip(x) + 1, backend="eager", fullgraph=True)(X)


def test_plain_compile_after_a_converted_caller() -> None:
    def caller(x: torch.Tensor) -> torch.Tensor:
        return third_party.clip(x) + 1

    compiled(caller)(X)
    with pytest.raises(Unsupported):
        torch.compile(caller, backend="eager", fullgraph=True)(X)


def test_not_recursive() -> None:
    compiled(third_party.clip)(X)  # another conversion of the process, which is recursive
    with pytest.raises(CaptureError):
        compiled(lambda x: third_party.clip(x) + 1, recursive=False)(X)


def test_not_recursive_converts_the_function_itself() -> None:
    captured = compiled(third_party.clip, recursive=False)
    for x in INPUTS:
        assert torch.equal(captured(x), third_party.clip(x))


def test_do_not_convert() -> None:
    @do_not_convert
    def kept(x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x

    def caller(x: torch.Tensor) -> torch.Tensor:
        return kept(x) + 1

    assert torch.equal(convert(caller)(-X), X + 1)
    with pytest.raises((Unsupported, CaptureError)):
        compiled(caller)(X)


def test_do_not_convert_on_a_method() -> None:
    class Holder:
        @do_not_convert
        def kept(self, x: torch.Tensor) -> torch.Tensor:
            return x if x.sum() > 0 else -x

    holder = Holder()
    with pytest.raises((Unsupported, CaptureError)):
        compiled(lambda x: holder.kept(x) + 1)(X)


def test_original_functions_stay_as_they_are() -> None:
    code = third_party.clip.__code__
    compiled(lambda x: third_party.clip(x))(X)
    assert third_party.clip.__code__ is code


def test_install_twice_hooks_once() -> None:
    inlining.install()
    hooked = InliningInstructionTranslator.__init__
    inlining.install()
    assert InliningInstructionTranslator.__init__ is hooked


def test_signature_of_torch_is_the_one_we_know() -> None:
    inlining.install()
    original = getattr(InliningInstructionTranslator, inlining._INSTALLED)
    names = list(inspect.signature(original).parameters)
    assert names[:4] == ["self", "parent", "code", "symbolic_locals"]
    assert names[7] == "funcvar"


def test_another_signature_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Translator:
        def __init__(self, code: Any, parent: Any) -> None: ...

    monkeypatch.setattr(inlining, "_Translator", Translator)
    with pytest.raises(RuntimeError, match=r"does not know this version of torch.*'code', 'parent'.*recursive=False"):
        convert(third_party.clip)
    assert convert(third_party.clip, recursive=False)


def collected(x: torch.Tensor) -> tuple[int, torch.Tensor]:
    """What follows needs the length of the list: no graph has the first form of it."""
    found = []
    if x.sum() > 0:
        found.append(x)
    return len(found), x * len(found)


again = convert(collected)
wrapped = autograph(collected, backend="eager")


@pytest.mark.parametrize("inner", [again, wrapped])
def test_forms_of_a_converted_function_below_another(inner: Callable[..., Any]) -> None:
    def outer(x: torch.Tensor) -> torch.Tensor:
        n, y = inner(x)
        return y + n

    agrees(outer)


def scaled(factor: float, x: torch.Tensor) -> tuple[int, torch.Tensor]:
    n, y = collected(x * factor)
    return n, y / factor


def test_a_partial_function_takes_every_form() -> None:
    function = functools.partial(scaled, 2.0)
    captured = compiled(function)
    for x in INPUTS:
        torch.testing.assert_close(captured(x), function(x), rtol=0, atol=0)


def test_a_partial_function_is_refused_by_a_message_of_ours() -> None:
    def of_two_types(flag: bool, x: torch.Tensor) -> torch.Tensor:
        y = x
        while x.sum() < 10 and flag:
            y = x.int() if x[0] > 2 else x
            x = x + 1 + y.sum()
        return y

    with pytest.raises(CaptureError, match="AG310"):
        compiled(functools.partial(of_two_types, True))(X)


def steps_down(n: int) -> int:
    return 0 if n <= 0 else 1 + steps_down(n - 1)


def of_a_recursion_that_data_end(x: torch.Tensor) -> torch.Tensor:
    return x * steps_down(int(x[0]))


def test_a_recursion_that_data_end_does_not_end_the_process() -> None:
    with pytest.raises(CaptureError, match="a recursion has to end whatever the data"):
        compiled(of_a_recursion_that_data_end)(torch.tensor([3.0, 1.0]))


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_a_recursion_that_data_end_is_followed() -> None:
    captured = compiled(of_a_recursion_that_data_end)
    for x in (torch.tensor([3.0, 1.0]), torch.tensor([0.0, 1.0]), torch.tensor([3.5, 2.0])):
        torch.testing.assert_close(captured(x), of_a_recursion_that_data_end(x))
