"""Names that differ between versions of torch: this one has exactly one of each."""

from __future__ import annotations

import pytest
from torch._dynamo import symbolic_convert
from torch._dynamo.symbolic_convert import ExceptionStack, InstructionTranslatorBase
from torch._dynamo.variables.base import VariableTracker

from autograph_torch.capture import dynamo_names


def test_this_torch_has_the_names() -> None:
    assert callable(getattr(VariableTracker, dynamo_names.GET_ATTRIBUTE))
    assert callable(getattr(InstructionTranslatorBase, dynamo_names.RAISE))
    assert hasattr(ExceptionStack, dynamo_names._RAISED)
    assert dynamo_names.TRUTH is None or callable(getattr(symbolic_convert, dynamo_names.TRUTH))


def test_none_of_the_names() -> None:
    with pytest.raises(AttributeError, match="none of newer, older"):
        dynamo_names._of(VariableTracker, "newer", "older")
