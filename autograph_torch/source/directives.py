"""Comments that steer conversion: `# autograph: skip`, `off` ... `on`, `skip-file`.

if x.sum() > 0:  # autograph: skip        leaves this statement (or, on a `def` line, this function) alone
# autograph: off ... # autograph: on      leaves the lines between alone
# autograph: skip-file                    leaves the file alone
"""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass

from autograph_torch.diagnostics import Diagnostic, SourceError

_DIRECTIVE = re.compile(r"#\s*autograph:\s*(\S*)")


@dataclass(frozen=True)
class Directives:
    """What the comments of a file ask for."""

    skip_file: bool = False
    skipped_lines: frozenset[int] = frozenset()

    @classmethod
    def read(cls, text: str, filename: str) -> Directives:
        """Collect the directives of a file.

        Raises:
            SourceError: AG303 for a directive that does not exist, with its line.
        """
        if "autograph:" not in text:
            return cls()
        lines = text.splitlines()
        skipped: set[int] = set()
        off_since: int | None = None
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            found = _DIRECTIVE.match(token.string) if token.type == tokenize.COMMENT else None
            if found is None:
                continue
            line, word = token.start[0], found.group(1)
            if word == "skip-file":
                return cls(skip_file=True)
            if word == "skip":
                skipped.add(line)
            elif word == "off":
                off_since = line
            elif word == "on":
                skipped.update(range(off_since or line, line + 1))
                off_since = None
            else:
                raise _unknown(word, filename, token.start, lines)
        if off_since is not None:
            skipped.update(range(off_since, len(lines) + 1))
        return cls(False, frozenset(skipped))


def _unknown(word: str, filename: str, start: tuple[int, int], lines: list[str]) -> SourceError:
    return SourceError(
        Diagnostic(
            "AG303",
            filename,
            start[0],
            start[1] + 1,
            start[0],
            f"unknown directive `autograph: {word}`",
            "use skip, off, on or skip-file",
            lines[start[0] - 1],
        )
    )
