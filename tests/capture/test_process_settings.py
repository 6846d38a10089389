"""Settings of the whole process that a branch or loop on data would change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, autograph
from tests.harness import check_any_graph, compiled, from_text, program, scalar

Setting = tuple[str, str, str]  # what sets it, what reads it, and what sets it back
SETTINGS: dict[str, Setting] = {
    "dtype": (
        "torch.set_default_dtype(torch.float64)",
        "torch.get_default_dtype()",
        "torch.set_default_dtype(torch.float32)",
    ),
    "determinism": (
        "torch.use_deterministic_algorithms(True)",
        "torch.are_deterministic_algorithms_enabled()",
        "torch.use_deterministic_algorithms(False)",
    ),
    "precision": (
        "torch.set_float32_matmul_precision('high')",
        "torch.get_float32_matmul_precision()",
        "torch.set_float32_matmul_precision('highest')",
    ),
    "attention": (
        "torch.backends.cuda.enable_flash_sdp(False)",
        "torch.backends.cuda.flash_sdp_enabled()",
        "torch.backends.cuda.enable_flash_sdp(True)",
    ),
    "warnings": ("torch.set_warn_always(True)", "torch.is_warn_always_enabled()", "torch.set_warn_always(False)"),
    "autocast": (
        "torch.set_autocast_dtype('cpu', torch.float16)",
        "torch.get_autocast_dtype('cpu')",
        "torch.set_autocast_dtype('cpu', torch.bfloat16)",
    ),
}
FORMS = {
    "branch": "if x > 0:\n        {0}\n        x = x * 2",
    "loop": "while x > 0:\n        {0}\n        x = x - 1",
    "later": "if x <= 0:\n        return x\n    {0}",
}


@pytest.fixture(params=SETTINGS.values(), ids=SETTINGS)
def setting(request: pytest.FixtureRequest) -> Iterator[Setting]:
    yield request.param
    exec(request.param[2])


def _function(form: str, setting: Setting) -> Any:
    text = FORMS[form].format(setting[0])
    name = f"<{form}: {setting[0]}>"
    return from_text(f"def f(x):\n    {text}\n    return x + 1\n", "f", name)


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize("form", FORMS)
def test_what_is_set_on_the_path_that_is_taken(setting: Setting, form: str) -> None:
    function = _function(form, setting)
    torch._dynamo.reset()
    fast = autograph(function, backend="eager")
    for value in (-1.0, 1.0, -1.0, 2.0):
        seen = []
        for called in (function, fast):
            exec(setting[2])
            seen.append((repr(called(torch.tensor(value))), eval(setting[1])))
        assert seen[0] == seen[1]


def test_it_is_refused_where_there_is_to_be_one_graph(setting: Setting) -> None:
    function = _function("branch", setting)
    before = eval(setting[1])
    with pytest.raises(CaptureError, match="AG320 .* in a branch or loop sets what counts for the whole process"):
        compiled(function)(torch.tensor(-1.0))
    assert eval(setting[1]) == before


def _leaf(value: float) -> torch.Tensor:
    return scalar(value).requires_grad_()


@program(inputs=[lambda: (scalar(-1),), lambda: (scalar(2),)])
def a_type_behind_a_loop(x: torch.Tensor) -> Any:
    while x > 0:
        torch.set_default_dtype(torch.float64)
        x = x - 1
    made, kind = torch.zeros(2), str(torch.get_default_dtype())
    torch.set_default_dtype(torch.float32)
    return made, kind, x


@program(inputs=[lambda: (_leaf(-1),), lambda: (_leaf(2),)])
def a_mode_of_gradients(x: torch.Tensor) -> bool:
    with torch.no_grad():
        if x > 0:
            torch.set_grad_enabled(True)
        y = x * 2
    return y.requires_grad


@program(inputs=[lambda: (_leaf(-1),), lambda: (_leaf(2),)])
def a_block_in_a_branch(x: torch.Tensor) -> tuple[torch.Tensor, bool]:
    if x > 0:
        with torch.set_grad_enabled(False):
            x = x * 2
    return x + 1, torch.is_grad_enabled()


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize("subject", [a_type_behind_a_loop, a_mode_of_gradients, a_block_in_a_branch])
def test_what_follows_in_the_function(subject: Any) -> None:
    check_any_graph(subject)


def test_a_block_needs_no_path() -> None:
    assert compiled(a_block_in_a_branch)(scalar(2))[0] == 5


def test_a_mode_by_hand_that_would_be_forgotten() -> None:
    def by_hand(x: torch.Tensor) -> torch.Tensor:
        torch.set_autocast_enabled("cpu", True)
        return x * 2 if x > 0 else x

    with pytest.raises(CaptureError, match="is forgotten when it returns"):
        compiled(by_hand)(scalar(1))
