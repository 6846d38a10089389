"""Comments whose statement is gone, hung on the statement that took its place.

    if p:  # why                      # why
        return x  # big        ->     # big
    return y                          return ag.cond(p, lambda: x, lambda: y)

A single one that stood at the end of a line goes to the end of the new line, if it fits there. What it tells another
tool about its line (`# type: ignore`, `# noqa`) goes to the end of the new line whether it fits or not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import gast

from autograph_torch.source.layout import Layout, Place, clauses_of
from autograph_torch.source.nodes import origin, walk
from autograph_torch.source.templates import runtime_function
from autograph_torch.source.tokens import Token

_TOOLS = re.compile(r"#\s*(type:|noqa\b|pylint:|pyright:|mypy:|ruff:|nosec\b|fmt:|flake8:)")


def is_for_a_tool(comment: str) -> bool:
    """The comment tells a checker or formatter about the expression on its line."""
    return _TOOLS.search(comment) is not None


@dataclass
class Notes:
    """Comments to print with a statement, by its id: above it, at the end of its line, or below it."""

    above: dict[int, list[str]] = field(default_factory=dict)
    beside: dict[int, str] = field(default_factory=dict)
    tools: dict[int, list[str]] = field(default_factory=dict)
    """Also at the end of the line, however long it gets."""
    below: dict[int, list[str]] = field(default_factory=dict)
    arms: dict[int, list[tuple[gast.expr, str]]] = field(default_factory=dict)
    """Those that are about one branch of the statement: where that has a line of its own, they stand above it."""

    def take(self, node: gast.AST, note: str) -> None:
        """Remove a comment from around a statement."""
        if self.beside.get(id(node)) == note:
            del self.beside[id(node)]
            return
        around = self.above if note in self.above.get(id(node), ()) else self.below
        around[id(node)].remove(note)

    def touches(self, node: gast.AST) -> bool:
        return any(id(node) in notes for notes in (self.above, self.beside, self.tools, self.below))


class _Heir(NamedTuple):
    """A printed statement and the place of the old one that it is, or stands for."""

    node: gast.stmt
    place: Place
    is_same_kind: bool

    @property
    def is_new_line(self) -> bool:
        """It is a simple statement of another kind than the old one."""
        return not self.is_same_kind and next(clauses_of(self.node), None) is None


def hang(lost: Sequence[Token], printed: Sequence[gast.stmt], layout: Layout) -> Notes:
    """Find a statement for every lost comment; `printed` are the statements in their new order."""
    notes = Notes()
    heirs = [heir for node in printed if (heir := _heir(node, layout)) is not None]
    found = [(comment, *_hook(comment, heirs, layout)) for comment in lost]
    crowd = Counter(id(heir.node) for comment, heir, _ in found if not is_for_a_tool(comment.text))
    for comment, heir, below in found:
        text = comment.text.rstrip()
        if is_for_a_tool(text) and not heir.is_same_kind and not _has_own_line(comment, layout):
            told = notes.tools.setdefault(id(heir.node), [])
            told.extend([] if text in told else [text])
            continue
        if below:
            notes.below.setdefault(id(heir.node), []).append(text)
        elif crowd[id(heir.node)] == 1 and heir.is_new_line and not _has_own_line(comment, layout):
            notes.beside[id(heir.node)] = text
        else:
            notes.above.setdefault(id(heir.node), []).append(text)
        arm = _arm(comment, heir.node, layout)
        if arm is not None:
            notes.arms.setdefault(id(heir.node), []).append((arm, text))
    return notes


def _arm(comment: Token, node: gast.stmt, layout: Layout) -> gast.expr | None:
    """The lambda in `ag.cond(test, lambda: x, lambda: y)` that the statement has become which a comment is about."""
    around = [place for place in layout.places.values() if place.lead <= comment.start < place.end]
    place = min(around, key=lambda place: place.end - place.lead)
    if place in (layout.place(node), layout.place(origin(node))):
        return None
    calls = [call for call in walk(node) if runtime_function(call) == "cond"]
    arms = [arm for call in calls for arm in call.args[1:3] if isinstance(arm, gast.Lambda)]
    starts = [(layout.source.span(arm.body)[0], arm) for arm in arms if getattr(arm.body, "lineno", None) is not None]
    within = [found for found in starts if place.start <= found[0] < place.stop]
    return min(within, key=lambda found: found[0])[1] if within else None


def _heir(node: gast.stmt, layout: Layout) -> _Heir | None:
    old = node if layout.place(node) else origin(node)
    place = layout.place(old)
    return _Heir(node, place, type(node) is type(old)) if place is not None else None


def _hook(comment: Token, heirs: Sequence[_Heir], layout: Layout) -> tuple[_Heir, bool]:
    """The statement to hang a comment on, and whether it belongs below it."""
    around = [heir for heir in heirs if heir.place.lead <= comment.start < heir.place.end]
    size = min(heir.place.end - heir.place.lead for heir in around)
    closest = [heir for heir in around if heir.place.end - heir.place.lead == size]
    calls = [heir for heir in closest if not isinstance(heir.node, (gast.FunctionDef, gast.AsyncFunctionDef))]
    best = (calls or closest)[0]
    if best.is_same_kind and _is_in_block(comment, best, layout):
        return _neighbour(comment, best, heirs)
    return best, comment.start >= best.place.stop and _has_own_line(comment, layout)


def _neighbour(comment: Token, parent: _Heir, heirs: Sequence[_Heir]) -> tuple[_Heir, bool]:
    """The statement next to a comment in a block, the following one if there is one."""
    inside = [heir for heir in heirs if parent.place.start < heir.place.start and heir.place.end <= parent.place.end]
    after = [heir for heir in inside if heir.place.start >= comment.start]
    if after:
        return min(after, key=lambda heir: heir.place.start), False
    before = [heir for heir in inside if heir.place.stop <= comment.start]
    return (max(before, key=lambda heir: heir.place.stop), True) if before else (parent, False)


def _is_in_block(comment: Token, heir: _Heir, layout: Layout) -> bool:
    clause = layout.clause(heir.node, "body") or layout.clause(origin(heir.node), "body")
    return clause is not None and comment.start >= clause.body


def _has_own_line(comment: Token, layout: Layout) -> bool:
    number = layout.source.line_number(comment.start)
    return not layout.source.slice(layout.source.starts[number - 1], comment.start).strip()
