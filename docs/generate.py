"""Writes docs/diagnostics.md from the one table of messages, autograph_torch.diagnostics.RULES.

python docs/generate.py
"""

from __future__ import annotations

from pathlib import Path

from autograph_torch.diagnostics import RULES, Rule

PAGE = Path(__file__).parent / "diagnostics.md"
INTRODUCTION = """\
# Diagnostics

Every message of the compiler has a code. `autograph-torch rule AG103` prints what stands here.
This page is generated: change `autograph_torch/diagnostics.py`, then run `python docs/generate.py`.

<!-- fmt: off -->
"""
SECTIONS = {
    "AG1": ("Rewritten", "Shown above each hunk of the diff."),
    "AG2": ("Left alone", "Not an error: the code stays as it was. `autograph-torch convert -v` shows these."),
    "AG3": ("Errors", "Each is an `AutographError` with the file, the line, a caret and, where there is some, advice."),
}


def page() -> str:
    """The text of docs/diagnostics.md."""
    parts = [INTRODUCTION]
    for prefix, (title, remark) in SECTIONS.items():
        rules = sorted((rule for rule in RULES.values() if rule.code.startswith(prefix)), key=lambda rule: rule.code)
        parts.append("\n".join([f"## {title}\n", f"{remark}\n", *map(_entry, rules)]))
    return "\n".join(parts)


def _entry(rule: Rule) -> str:
    parts = [f"### {rule.code}: {rule.title}\n"]
    if rule.explanation:
        parts.append(f"{rule.explanation}\n")
    if rule.before:
        parts.append(f"```python\n{rule.before}\n```\n")
    if rule.after:
        parts.append(f"becomes\n\n```python\n{rule.after}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
