"""Where `--target torch` gets the types of branches and loops: an example run, and for the rest the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.metadata import Metadata, Unknown
from autograph_torch.analysis.scopes import binds, parameters
from autograph_torch.analysis.seen import NumberType, OtherType, Site, TensorType, TupleType, Type
from autograph_torch.passes.torch_branches import Refused
from autograph_torch.source.templates import runtime_function

_ADVICE = "say what it is with --example, or as an annotation"
_LOGIC = ("and_", "or_", "not_")


def site_key(node: gast.AST) -> str:
    """What names a branch or loop: where its statement or expression stands in the file."""
    return f"{node.lineno}:{node.col_offset}:{node.end_lineno}:{node.end_col_offset}"


@dataclass
class Types:
    """The types of the branches and loops of a file. `seen`: what an example has shown; None without one."""

    seen: Mapping[str, Site] | None
    _metadata: dict[int, Metadata] = field(default_factory=dict)

    def site(self, node: gast.Call, facts: Facts) -> Site | None:
        if self.seen is not None:
            return self.seen.get(site_key(node)) or (None if self._is_unsure(node, facts) else self._told(node, facts))
        return self._told(node, facts)

    def result(self, site: Site, role: str, block: list[gast.stmt], value: gast.expr, facts: Facts) -> Type:
        if role in site.results:
            return site.results[role]
        try:
            kind = Metadata(facts.kinds, site.names).after(block).of(value)
        except Unknown as unknown:
            missing = f"{unknown.what} is not known"
            if self.seen is not None:
                missing = f"the example never comes here, and {missing}"
            raise Refused(missing, _ADVICE, "AG252") from unknown
        if isinstance(kind, TupleType) and not kind.parts:
            raise Refused("nothing that is used later changes")
        return kind

    def _is_unsure(self, node: gast.Call, facts: Facts) -> bool:
        """Whether only an example could have told that this is about tensors."""
        test = node.args[0].body if isinstance(node.args[0], gast.Lambda) else node.args[0]
        return facts.kinds.of(test) == Kind.UNKNOWN and runtime_function(test) not in _LOGIC

    def _told(self, node: gast.Call, facts: Facts) -> Site:
        known = self._metadata.get(id(facts.function))
        if known is None:
            known = self._metadata[id(facts.function)] = Metadata.of_function(facts.function, facts.kinds)
        names = {n: self._named(n, known, facts) for n in _locals(facts.function)}
        return Site(names, self._test(node, known, facts))

    @staticmethod
    def _named(n: str, known: Metadata, facts: Facts) -> Type:
        if n in known.names:
            return known.names[n]
        kind = facts.kinds.name(n)
        if kind in (Kind.TENSOR, Kind.DYNAMIC):
            return TensorType(f"dtype of {n}", f"rank of {n}")
        return OtherType(f"the type of `{n}`" if kind == Kind.UNKNOWN else "a Python value")

    @staticmethod
    def _test(node: gast.Call, known: Metadata, facts: Facts) -> Type:
        test = node.args[0].body if isinstance(node.args[0], gast.Lambda) else node.args[0]
        try:
            return known.of(test)
        except Unknown:
            pass
        if runtime_function(test) in _LOGIC or facts.kinds.of(test) in (Kind.TENSOR, Kind.DYNAMIC):
            return TensorType("bool", "rank of the test")
        if facts.kinds.of(test) == Kind.SYMBOL:
            return NumberType("bool")
        return OtherType("a type that is not known")


def _locals(function: gast.FunctionDef) -> list[str]:
    return [*parameters(function.args), *binds(function.body)]
