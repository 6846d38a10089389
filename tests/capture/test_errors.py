"""Everything that cannot be captured is told in the user's terms: code, file, line, caret, advice."""

from __future__ import annotations

import linecache
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import AutographError, CaptureError, ConversionError, SourceError, autograph, convert, trace
from autograph_torch.capture import compiling
from autograph_torch.capture.graph_writes import storage_of
from autograph_torch.diagnostics import RULES
from tests.harness import torch_before

X = torch.tensor([1.0, 2.0])


def refusal(function: Callable[..., Any], *args: Any, at: str, traced: bool = False) -> CaptureError:
    """The error of a capture that fails, after a look at what every error must show.

    `traced`: only the graph is asked for; there, results have one type, too.
    """
    with pytest.raises(CaptureError) as caught:
        trace(function, *args) if traced else autograph(function, backend="eager")(*args)
    error = caught.value
    shows_place(error, at)
    return error


def shows_place(error: AutographError, at: str) -> None:
    """File, line, the line's text with a caret below, a known code, and nothing of torch's own report."""
    diagnostic = error.diagnostic
    lines = linecache.getlines(__file__)
    line = next(number for number, text in enumerate(lines, 1) if at in text and "at=" not in text)
    assert (diagnostic.filename, diagnostic.line) == (__file__, line), diagnostic.render()
    assert error.code in RULES and diagnostic.message
    head, text, caret, *rest = str(error).splitlines()
    assert head.startswith(f"{__file__}:{line}:{diagnostic.column}: {error.code} ")
    assert text == "    " + lines[line - 1].rstrip()
    assert caret.strip() == "^" and caret.index("^") == 4 + diagnostic.column - 1
    assert len(rest) <= 1 and str(error) == diagnostic.render()


def chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None:
        found.append(current)
        current = current.__cause__ or current.__context__
    return found


# -- branches without a common type ----------------------------------------------------------------


def test_branches_of_different_rank() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:  # ranks
            y = x
        else:
            y = x.sum()
        return y

    error = refusal(program, X, at="# ranks", traced=True)
    assert error.code == "AG310"
    assert "float32 tensor of shape (2)" in str(error) and "float32 tensor of shape ()" in str(error)
    assert error.diagnostic.advice


def test_branches_of_different_types() -> None:
    def program(x: torch.Tensor) -> Any:
        if x.sum() > 0:  # tensor or string
            return x
        return "negative"

    error = refusal(program, X, at="# tensor or string", traced=True)
    assert error.code == "AG310"
    assert "tensor" in error.diagnostic.message and "'negative'" in error.diagnostic.message


def test_branches_of_different_length() -> None:
    def program(x: torch.Tensor) -> Any:
        return (x, x) if x.sum() > 0 else (x, x, x)  # lengths

    error = refusal(program, X, at="# lengths", traced=True)
    assert error.code == "AG310"
    assert "2" in error.diagnostic.message and "3" in error.diagnostic.message


def test_result_that_no_branch_can_give() -> None:
    def program(x: torch.Tensor) -> Any:
        return {1.5} if x.sum() > 0 else x  # objects

    error = refusal(program, X, at="# objects")
    assert error.code == "AG310" and "type set" in error.diagnostic.message


def test_line_is_that_of_a_callee() -> None:
    def callee(x: torch.Tensor) -> Any:
        while x.sum() < 99:  # in the callee
            x = torch.cat([x, x])
        return x

    assert refusal(lambda x: callee(x) + 1, X, at="# in the callee").code == "AG311"


def test_line_is_that_of_the_inner_branch() -> None:
    def program(x: torch.Tensor) -> Any:
        if x.sum() > 0:
            if x.max() > 1:  # inner
                y = x
            else:
                y = x.sum()
            return y * 2
        return x

    assert refusal(program, X, at="# inner", traced=True).code == "AG310"


# -- loops -----------------------------------------------------------------------------------------


def test_shape_that_changes_in_a_while() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        while x.sum() < 20:  # grows
            x = torch.cat([x, x])
        return x

    error = refusal(program, X, at="# grows")
    assert error.code == "AG311" and "shape" in error.diagnostic.message


def test_rank_that_changes_in_a_for() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        for _ in range(x.sum().int()):  # rises
            x = x.unsqueeze(0)
        return x

    assert refusal(program, X, at="# rises").code == "AG311"


# -- names -----------------------------------------------------------------------------------------


def test_a_name_that_is_never_bound() -> None:
    def program(x: torch.Tensor, n: Any = 2) -> torch.Tensor:
        if n > 3:
            y = x
        z = x if x.sum() > 0 else -x
        return y * z

    with pytest.raises(UnboundLocalError) as expected:
        program(X)
    with pytest.raises(UnboundLocalError) as given:
        autograph(program, backend="eager")(X)
    assert str(given.value) == str(expected.value)


@torch_before("2.12", "the name is not told (AG320)")
def test_a_name_that_only_the_trip_before_binds() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        while x.sum() < 9:
            x = x.abs() + y  # noqa: F821 (reads y)
            y = x * 2  # noqa: F841
        return x

    with pytest.raises(CaptureError) as caught:
        autograph(program, backend="eager")(X)
    assert caught.value.code == "AG312" and "`y`" in caught.value.diagnostic.message


def test_name_bound_on_one_side_runs_uncompiled() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            y = x + 1
        return y * 2

    converted = convert(program)
    assert torch.equal(converted(X), (X + 1) * 2)
    with pytest.raises(UnboundLocalError, match="local variable 'y'"):
        converted(-X)


# -- predicates ------------------------------------------------------------------------------------


def test_predicate_of_several_elements() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        if x > 0:  # ambiguous
            return x
        return -x

    error = refusal(program, X, at="# ambiguous")
    assert error.code == "AG313" and "2 elements" in error.diagnostic.message
    assert ".all()" in error.diagnostic.advice


def test_predicate_of_several_elements_in_a_loop() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        while x < 10:  # ambiguous loop
            x = x * 2
        return x

    assert refusal(program, X, at="# ambiguous loop").code == "AG313"


# -- what the tracer refuses -----------------------------------------------------------------------


def test_generator_that_yields_under_a_tensor() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        def parts() -> Any:
            if x.sum() > 0:  # yields
                yield x
            yield -x

        return torch.stack(list(parts())).sum()

    error = refusal(program, X, at="# yields")
    assert error.code == "AG201"
    assert any(isinstance(inner, torch._dynamo.exc.Unsupported) for inner in chain(error)[1:])


def test_unsupported_call() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()  # unsupported
        return x

    error = refusal(program, X, at="# unsupported")
    assert error.code == "AG320" and isinstance(error.__cause__, torch._dynamo.exc.Unsupported)
    assert "do_not_convert" in error.diagnostic.advice


def test_key_of_a_dict_by_data() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x * {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}[int(x.sum().item())]  # key

    with pytest.raises(CaptureError, match="AG321") as caught:  # under @autograph the graph is for this key
        trace(program, X)
    assert caught.value.__cause__ is not None


def test_errors_of_the_program_itself_keep_their_type() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x @ torch.ones(3)

    with pytest.raises(Exception, match="size|shape") as caught:
        autograph(program, backend="eager")(X)
    assert isinstance(caught.value, (RuntimeError, AutographError))


def test_errors_of_a_backend_are_told_too() -> None:
    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        raise ZeroDivisionError("in the backend")

    with pytest.raises(CaptureError) as caught:
        autograph(lambda x: x + 1, backend=backend)(X)
    assert any(isinstance(inner, ZeroDivisionError) for inner in chain(caught.value))


def test_errors_of_a_backend_are_told_with_their_reason_at_the_function() -> None:
    def broken(graph: Any, inputs: Any) -> Any:
        raise RuntimeError("no registers left")

    def function(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > 0 else x

    with pytest.raises(CaptureError, match="raised: RuntimeError: no registers left") as caught:
        autograph(function, backend=broken)(torch.ones(2))
    found = caught.value.diagnostic
    assert (found.filename, found.line) == (__file__, function.__code__.co_firstlineno)
    assert "def function" in str(caught.value)


# -- functions without source ----------------------------------------------------------------------


@pytest.mark.parametrize("function", [len, torch.sin, [].append], ids=["builtin", "torch", "bound builtin"])
def test_builtin_functions(function: Any) -> None:
    with pytest.raises(ConversionError) as caught:
        autograph(function)
    assert caught.value.code == "AG302"
    assert "no Python source" in str(caught.value) and caught.value.diagnostic.advice


def test_builtin_functions_are_left_as_they_are_by_convert() -> None:
    assert convert(len) is len


def test_what_is_not_callable() -> None:
    with pytest.raises(ConversionError, match="AG302"):
        autograph(3)  # type: ignore[type-var]


def made_by_exec() -> Any:
    names: dict[str, Any] = {}
    exec("def made(x):\n    if x.sum() > 0:\n        return x\n    return -x\n", names)
    return names["made"]


@pytest.mark.parametrize("use", [autograph, convert])
def test_function_without_source(use: Any) -> None:
    with pytest.raises(SourceError) as caught:
        use(made_by_exec())
    assert caught.value.code == "AG302"
    assert str(caught.value).startswith("<string>:1:1: AG302 `made` cannot be rewritten: ")


def test_function_without_source_is_left_as_it_is_when_called() -> None:
    made = made_by_exec()
    assert torch.equal(convert(lambda x: made(x))(-X), X)
    with pytest.raises(CaptureError):
        autograph(lambda x: made(x), backend="eager")(X)


def test_source_that_changed_since_it_was_loaded() -> None:
    filename = "<a notebook cell>"
    names: dict[str, Any] = {}
    exec(compile("def made(x):\n    return x\n", filename, "exec"), names)
    linecache.cache[filename] = (1, None, ["def other(x):\n", "    return x\n"], filename)
    try:
        with pytest.raises(SourceError, match="has changed"):
            convert(names["made"])
    finally:
        del linecache.cache[filename]


def test_errors_can_be_pickled() -> None:
    with pytest.raises(SourceError) as caught:
        convert(made_by_exec())
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is SourceError and copy.diagnostic == caught.value.diagnostic


# -- statements that were left alone ---------------------------------------------------------------


def test_the_reason_why_a_statement_was_left_alone() -> None:
    def raises_from(x: torch.Tensor) -> torch.Tensor:
        if x.sum() < 10:  # chained
            raise ValueError("small") from KeyError("x")
        return x

    error = refusal(raises_from, X, at="# chained")
    assert error.code == "AG207" and "left as it is, torch.compile refuses it" in str(error)


def test_a_statement_that_no_pass_has_left_alone_has_no_reason() -> None:
    def sized(x: torch.Tensor) -> torch.Tensor:
        return torch.zeros(3)[int(x.sum()) :].sum() if int(x.sum()) else x.chunk(int(x.sum()))[0]  # place

    assert refusal(sized, X, at="# place").code in ("AG320", "AG321")


def test_what_the_tracer_does_not_expect() -> None:
    def compares_sizes(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        k = n.max().reshape(1)
        y = torch.zeros(n.max(), 3) + x[0]
        assert y.size() == (k, 3), "the wrong size"
        return y + 1

    refusal(compares_sizes, torch.ones(2, 3), torch.tensor([1, 2]), at='assert y.size() == (k, 3), "the')


def test_what_the_package_does_not_expect_of_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = None
    monkeypatch.setattr(compiling, "check_types", lambda graph: storage_of(nothing))

    def twice_or_not(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > 0 else x

    error = refusal(twice_or_not, X, at="def twice_or_not(x: torch.Tensor)")
    assert "autograph-torch cannot look at its graph: AttributeError: 'NoneType' object has no" in str(error)


def gradient_in_a_branch(x: torch.Tensor) -> torch.Tensor:
    w = x.detach().clone().requires_grad_()
    loss = (w**2).sum()
    if loss > 3:
        (g,) = torch.autograd.grad(loss, w)  # records none
        return g
    return x


def test_a_gradient_that_a_branch_computes() -> None:
    error = refusal(gradient_in_a_branch, X, at="# records none", traced=True)
    assert error.code == "AG320" and "a gradient is computed in a branch or loop" in error.diagnostic.message
