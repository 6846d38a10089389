"""Small pieces of source text as the trees that the analyses take."""

from __future__ import annotations

import textwrap

import gast

from autograph_torch.analysis.kinds import Imports, Kind, Kinds, imports_of, parameter_kinds


def block(text: str) -> list[gast.stmt]:
    """The statements of a text, which may stand indented."""
    return gast.parse(textwrap.dedent(text)).body


def expression(text: str) -> gast.expr:
    return gast.parse(text, mode="eval").body


def function(text: str) -> gast.FunctionDef:
    """The first function of a text."""
    return next(node for node in block(text) if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)))


def kinds_in(
    text: str,
    outer: dict[str, Kind] | None = None,
    assume_unknown: bool = False,
    is_method: bool = False,
    imports: str = "import torch, math\nimport torch.nn.functional as F\n",
) -> Kinds:
    """The kinds of all names of the first function of a text."""
    found = function(text)
    kinds = Kinds(imports_of(block(imports)), parameter_kinds(found, is_method), outer, assume_unknown)
    kinds.infer(found.body)
    return kinds


def no_kinds() -> Kinds:
    """Nothing is known about any name."""
    return Kinds(Imports(), {})
