"""`--html`: a conversion as one page for review, with everything in it and nothing loaded from elsewhere.

Each file is a section of blocks in the order of its lines: what was rewritten, side by side and with the reasons
beside it; what was left alone, and why; what failed. page.css says how it looks, page.js does filters and keys; without
scripts all of it is still there to read.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources

from autograph_torch import __version__
from autograph_torch.cli.colours import Colours, visible
from autograph_torch.cli.review import Hunk, Result, decoded, reasons_of
from autograph_torch.diagnostics import RULES, Diagnostic

CONTEXT = 3
LONGEST_EXCERPT = 12
DEEPEST = 48  # columns of indentation that wrapped lines follow
KINDS = {"1": "rewritten", "2": "left", "3": "failed"}
_LABELS = {"rewritten": "Rewritten", "left": "Left alone", "failed": "Failed"}


@dataclass(frozen=True)
class Row:
    """A line of the old text beside one of the new; a side that has none is None."""

    kind: str  # same, moved (only its indentation changed), changed
    old: int | None
    new: int | None


@dataclass(frozen=True)
class Block:
    """What is shown as one: some rows and the messages that belong to them.

    above: the line of the last message above, which a block without messages goes on from.
    """

    kind: str
    rows: tuple[Row, ...]
    reasons: tuple[Diagnostic, ...]
    above: int | None = None

    @property
    def line(self) -> int:
        """Where in the old file it starts, for the order of the blocks."""
        return next((row.old + 1 for row in self.rows if row.old is not None), 1)


def page(results: Sequence[Result], verb: str) -> str:
    """The whole document; `verb` is `changed` or `would change`."""
    style, script = _asset("page.css") + _hanging(), _asset("page.js")
    shown = [result for result in results if result.changed or result.left_alone or result.errors]
    sections = [_file(result, number) for number, result in enumerate(shown, 1)]
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>autograph-torch: {len(shown)} of {len(results)} files to review</title>
<style>{style}</style>
</head>
<body>
{_summary(results, verb)}
<main id="files">
{"".join(sections) or '<p class="none">There is nothing to rewrite in these files.</p>'}
<p class="none" id="nothing" hidden>No place matches these filters.</p>
</main>
{_help()}
<script>{script}</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return resources.files("autograph_torch.cli").joinpath(name).read_text("utf-8")


def _hanging() -> str:
    """Lines that wrap go on a little deeper than they start, by a class for each depth."""
    return "".join(
        f".i{depth} {{ padding-left: calc(.5rem + {depth + 2}ch) !important; text-indent: -{depth + 2}ch; }}\n"
        for depth in range(DEEPEST + 1)
    )


def _digest(text: str) -> str:
    """How a content security policy names an inline style or script: nothing else on the page may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# -- top ---------------------------------------------------------------------------------------------------------------


def _summary(results: Sequence[Result], verb: str) -> str:
    changed = [result for result in results if result.changed]
    failed = sum(bool(result.errors) for result in results)
    counts = {
        "rewritten": sum(len(result.rewritten) for result in changed),
        "left": sum(len(result.left_alone) for result in results),
        "failed": sum(len(result.errors) for result in results),
    }
    files = f"{_counted(len(changed), 'file')} {verb}, {len(results) - len(changed) - failed} unchanged"
    filters = "".join(
        f'<button type="button" class="filter {kind}" data-kind="{kind}" aria-pressed="true" aria-keyshortcuts="{key}">'
        f"<b>{counts[kind]}</b> {_LABELS[kind].lower()}<kbd>{key}</kbd></button>"
        for key, kind in KINDS.items()
    )
    return f"""<header>
<div class="title"><h1>autograph-torch</h1><span class="version">{escape(__version__)}</span>
<p class="files">{escape(files)}{f", {failed} failed" if failed else ""}</p></div>
<nav aria-label="Filters">{filters}
<input id="search" type="search" placeholder="Find a file or a message" aria-label="Find a file or a message">
<span class="place" id="place" aria-live="polite"></span>
<button type="button" id="theme" title="Light or dark (t)" aria-label="Light or dark">◐</button>
<button type="button" id="help" title="Keys (?)" aria-label="Keys">?</button></nav>
</header>
<section class="rules" aria-label="What was found">{_rules(results)}</section>"""


def _rules(results: Sequence[Result]) -> str:
    """How often each code occurs, with what it means."""
    found = [d for r in results for d in r.diagnostics if r.changed or not d.code.startswith("AG1")]
    counts = Counter(diagnostic.code for diagnostic in found)
    if not counts:
        return ""
    rows = "".join(
        f'<li class="{_kind(code)}"><b>{counts[code]}</b><code>{escape(code)}</code>'
        f"<span>{_marked(RULES[code].title) if code in RULES else ''}</span></li>"
        for code in sorted(counts)
    )
    return f"<details open><summary>By code</summary><ul>{rows}</ul></details>"


def _help() -> str:
    keys = {
        "j k": "next, previous place",
        "n p": "next, previous file",
        "o": "open or close the file",
        "1 2 3": "rewritten, left alone, failed",
        "/": "search",
        "t": "light or dark",
        "?": "this list",
    }
    rows = "".join(
        f"<dt>{' '.join(f'<kbd>{escape(key)}</kbd>' for key in names.split())}</dt><dd>{escape(what)}</dd>"
        for names, what in keys.items()
    )
    return f'<dialog id="keys"><h2>Keys</h2><dl>{rows}</dl><form method="dialog"><button>Close</button></form></dialog>'


# -- files -------------------------------------------------------------------------------------------------------------


def _file(result: Result, number: int) -> str:
    old, new = (decoded(data, result.raw) for data in (result.raw, result.output))
    blocks = _blocks(result, old, new)
    colours = Colours(old), Colours(new)
    counts = Counter(_kind(reason.code) for block in blocks for reason in block.reasons)
    badges = "".join(
        f'<span class="badge {kind}">{counts[kind]} {_LABELS[kind].lower()}</span>'
        for kind in KINDS.values()
        if counts[kind]
    )
    name = visible(result.shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    body = "".join(_block(block, *colours) for block in blocks)
    return f"""<details class="file" id="f{number}" open>
<summary><span class="path">{name}</span>{badges}</summary>
{body}</details>
"""


def _blocks(result: Result, old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """The blocks of a file, in the order of its lines."""
    blocks = [_excerpt(reason, old) for reason in (*result.left_alone, *result.errors)]
    if result.changed:
        groups = list(difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT))
        reasons = reasons_of([Hunk(group[-1][2], ()) for group in groups], result.rewritten)
        for group, why in zip(groups, reasons, strict=True):
            above = max((found.line for found in result.rewritten if found.line <= group[0][1]), default=None)
            blocks.append(Block("rewritten", tuple(_rows(group, old, new)), tuple(why), above))
    return sorted(blocks, key=lambda block: block.line)


def _excerpt(reason: Diagnostic, old: Sequence[str]) -> Block:
    """The lines that a message is about, with one above and below."""
    last = min(max(reason.end_line, reason.line), reason.line + LONGEST_EXCERPT)
    lines = range(max(reason.line - 2, 0), min(last + 1, len(old)))
    rows = tuple(Row("marked" if reason.line <= n + 1 <= last else "same", n, None) for n in lines)
    return Block(_kind(reason.code), rows, (reason,))


def _rows(group: Iterable[tuple[str, int, int, int, int]], old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            yield from (Row("same", i, j) for i, j in zip(range(i1, i2), range(j1, j2), strict=True))
        else:
            yield from _replaced(range(i1, i2), range(j1, j2), old, new)


def _replaced(lines: range, others: range, old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    """Lines that differ only in their indentation stand side by side; what lies between them is filled up."""
    before, after = ([text[n].strip() for n in numbers] for text, numbers in ((old, lines), (new, others)))
    matcher = difflib.SequenceMatcher(lambda text: len(text) < 3, before, after, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        pairs = itertools.zip_longest(lines[i1:i2], others[j1:j2])
        yield from (Row("moved" if tag == "equal" else "changed", *pair) for pair in pairs)


def _block(block: Block, old: Colours, new: Colours) -> str:
    both = block.kind == "rewritten"
    rows = "".join(_row(row, old, new) if both else _single(row, old) for row in block.rows)
    alone = "adds the import" if block.above is None else f"goes on from line {block.above}"
    reasons = "".join(map(_reason, block.reasons)) or f'<p class="quiet">{alone}</p>'
    sides = "two" if both else "one"
    columns = '<col class="number"><col><col class="number"><col>' if both else '<col class="number"><col>'
    return f"""<article class="block {block.kind}" tabindex="-1">
<table class="code {sides}"><colgroup>{columns}</colgroup><tbody>{rows}</tbody></table>
<aside><div class="reasons">{reasons}</div></aside>
</article>
"""


def _row(row: Row, old: Colours, new: Colours) -> str:
    return f'<tr class="{row.kind}">{_cells(row.old, old, "old")}{_cells(row.new, new, "new")}</tr>'


def _single(row: Row, old: Colours) -> str:
    return f'<tr class="{row.kind}">{_cells(row.old, old, "")}</tr>'


def _cells(line: int | None, colours: Colours, side: str) -> str:
    """A line's number and text. The number is drawn by the style sheet, so that it is not copied along."""
    if line is None:
        return '<td class="number void"></td><td class="void"></td>'
    depth = min(colours.depth(line), DEEPEST)
    return f'<td class="number" data-line="{line + 1}"></td><td class="{side} i{depth}">{colours.line(line)}</td>'


def _reason(reason: Diagnostic) -> str:
    title = RULES[reason.code].title if reason.code in RULES else ""
    advice = f'<p class="advice">{_marked(reason.advice)}</p>' if reason.advice else ""
    return (
        f'<div class="reason {_kind(reason.code)}"><p><code title="{escape(title)}">{escape(reason.code)}</code>'
        f'<span class="at">line {reason.line}</span></p><p>{_marked(reason.message)}</p>{advice}</div>'
    )


def _marked(message: str) -> str:
    """A message as HTML: what stands in backquotes is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", visible(message))


def _kind(code: str) -> str:
    return KINDS.get(code[2:3], "failed")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
