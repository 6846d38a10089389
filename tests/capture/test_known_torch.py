"""A torch without a private name that the package leans on is told by that name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
import torch
from torch._dynamo.variables import SuperVariable

from autograph_torch import convert
from autograph_torch.capture import compiling, known_torch
from tests.capture import third_party


@contextlib.contextmanager
def of_another_torch() -> Iterator[None]:
    SuperVariable.as_it_was_once_called  # noqa: B018
    yield


def test_a_missing_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_REPAIRS", (*compiling._REPAIRS, of_another_torch))
    converted = convert(third_party.clip)
    x = torch.tensor([1.0, 2.0])
    assert torch.equal(converted(x), third_party.clip(x))  # uncompiled, nothing of torch is needed
    with pytest.raises(RuntimeError, match=r"does not know torch 2\S+ it has no SuperVariable.as_it_was_once_called"):
        torch.compile(converted, backend="eager", fullgraph=True)(x)


def test_a_newer_torch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_torch, "NEWEST", (2, 10))
    converted = convert(third_party.clip)
    x = torch.tensor([1.0, 2.0])
    assert torch.equal(converted(x), third_party.clip(x))
    with pytest.raises(RuntimeError, match=r"not been tested with torch 2\..*use a torch from 2.11 to 2.13"):
        torch.compile(converted, backend="eager", fullgraph=True)(x)
