"""Coverage-guided fuzzing of everything between the bytes of a file and the bytes that come out.

python -m tests.fuzz_source --seconds 3600 --keep-going        needs atheris: pip install 'autograph-torch[fuzz]'

Inputs start as the golden files and grow by edits that a person might make to a program, most of which still parse:
lines moved, copied and lost, comments and blank lines in odd places, other newlines, tabs, semicolons, parentheses.
What has to hold for every input is in `check`.
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import re
import sys
import tempfile
import tokenize
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from autograph_torch.diagnostics import AutographError

CASES = Path(__file__).parent / "cases"
LONGEST = 6000
SNIPPETS = """\
if x.sum() > 0:
elif x.any():
else:
while x.sum() > 0:  # while
for i in range(n):
for i, row in enumerate(x):
with torch.no_grad():
try:
except ValueError as e:
finally:
def inner(y, *, z=1):
class Inner:
async def later(x):
match x:
    case [a, *rest] if x.sum() > 0: pass
break
continue
return
return x, y
return (yield x)
raise ValueError("bad")
x = x + 1
x += 1; y = x
x[0] = 1
self.count = self.count + 1
y = x if x.sum() > 0 else -x
y = f"{x!r:>{n}} {'a' if x.any() else 'b'}"
y = (x
y = [i for i in x if i > 0]
if (z := x.sum()) > 0: y = z
if x.sum() > 0: return x
if not x.any() and y is None or 0 < x.sum() < 1: pass
assert x.all(), "no"
print(x, file=None)
print(f"{x}")
del y
global g
lambda: x
x = (  # open
    x + 1)
y = '''one
  two'''
assert x.all(), "no"  # noqa: S101
if x.sum() > 0: y = x  # type: ignore
# comment
    # deeper
\\
pass
""".splitlines()
TOKENS = "x y n self torch 0 1.5 '' None True ( ) [ ] { } : , . ; = == < -> := + - * ** @ not and or in is".split()


def check(data: bytes) -> str:
    """What became of an input; anything that is raised is a defect.

    The first byte says whether unknown values are taken for tensors, which rewrites most.
    """
    from autograph_torch.pipeline import Options, convert_source
    from autograph_torch.source.comments import is_for_a_tool

    raw, options = data[1:], Options(assume_unknown=data[:1] != b"f")
    try:
        done = convert_source(raw, "f.py", options)
    except AutographError as error:
        assert error.diagnostic.code != "AG390", f"our defect: {error}"
        assert str(error).startswith("f.py:"), f"no place in {error}"
        return "refused"
    faults = [found.message for found in done.diagnostics if found.code in ("AG290", "AG390")]
    assert all(re.search("deeply nested|tokenize module|line continuation", fault) for fault in faults), faults
    if not done.changed:
        assert done.output == raw
        return "unchanged"
    before, after = _read(raw), _read(done.output)
    assert _outside(before) == _outside(after), "text outside functions has changed"
    comments, kept = _comments(before), _comments(after)
    lost = comments - kept if comments is not None and kept is not None else Counter[str]()
    lost = [comment for comment in lost if not (is_for_a_tool(comment) and kept[comment])]  # one of a line is enough
    assert not lost, f"comments lost: {lost}"
    try:
        again = convert_source(done.output, "f.py", options)
    except AutographError as error:
        assert "tokenize module" in str(error), error  # as for `_comments`
        return "changed"
    assert not (again.changed and data[:1] == b"f"), (
        f"converting it twice changes it: {[str(d.line) + d.code for d in again.diagnostics]}"
    )
    return "changed"


def _read(raw: bytes) -> str:
    from autograph_torch.source.file import SourceFile

    return SourceFile.read(raw, "f.py").text


def _outside(text: str) -> list[str]:
    """The statements that are in no function, less the import that conversion adds."""
    tree = _parsed(text)
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(node, field, [ast.Pass() if _is_function(inner) else inner for inner in block])
    return [line for node in tree.body if (line := ast.dump(node)) != _IMPORT]


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


_IMPORT = ast.dump(ast.parse("import autograph_torch.runtime as ag").body[0])


def _comments(text: str) -> Counter[str] | None:
    """The comments of a text; None for odd line continuations, which tokenize cannot read before Python 3.12."""
    tokens = tokenize.generate_tokens(io.StringIO(re.sub(r"\r\n?", "\n", text)).readline)
    try:
        found = [token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT]
        return Counter(comment for text in found for comment in re.split(" +(?=#)", text))  # several share a line
    except (IndentationError, tokenize.TokenError):
        return None


# -- inputs ----------------------------------------------------------------------------------------------------------


def seeds() -> list[bytes]:
    """The golden files, taken for files of known and of unknown values."""
    programs = [path.read_bytes().partition(b"\n# output\n")[0] + b"\n" for path in sorted(CASES.glob("*/*.py"))]
    return [flag + program for program in programs for flag in (b"f", b"u")]


def mutated(data: bytes, randomly: random.Random, others: list[bytes]) -> bytes:
    """The input after a few edits; of several tries one that still parses, most of the time."""
    best = data
    for _ in range(8):
        text = data[1:].decode("utf-8", "replace")
        for _ in range(randomly.choice((1, 1, 2, 3, 5))):
            text = randomly.choice(_EDITS)(text, randomly, others)
        best = data[:1] + text[:LONGEST].encode("utf-8", "replace")
        if _parses(text) or randomly.random() < 0.05:
            return best
    return best


def _parses(text: str) -> bool:
    try:
        _parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


Edit = Callable[[str, random.Random, list[bytes]], str]


def _on_lines(edit: Callable[[list[str], int, random.Random], None]) -> Edit:
    """An edit of the list of lines at a random place in it."""

    def apply(text: str, randomly: random.Random, others: list[bytes]) -> str:
        lines = text.splitlines(keepends=True) or ["\n"]
        edit(lines, randomly.randrange(len(lines)), randomly)
        return "".join(lines)

    return apply


def _drop(lines: list[str], at: int, randomly: random.Random) -> None:
    del lines[at : at + randomly.randint(1, 3)]


def _copy(lines: list[str], at: int, randomly: random.Random) -> None:
    where = randomly.randrange(len(lines))
    lines[where:where] = lines[at : at + randomly.randint(1, 6)]


def _add(lines: list[str], at: int, randomly: random.Random) -> None:
    lines.insert(at, _indent(lines[at]) + randomly.choice(("", "", "    ", "\t")) + randomly.choice(SNIPPETS) + "\n")


def _nest(lines: list[str], at: int, randomly: random.Random) -> None:
    """Put a header above some lines, and the lines below it."""
    header = randomly.choice([snippet for snippet in SNIPPETS if snippet.endswith(":")])
    stop = at + randomly.randint(1, 8)
    inner = ["    " + line if line.strip() else line for line in lines[at:stop]]
    lines[at:stop] = [f"{_indent(lines[at])}{header}\n", *inner]


def _shift(lines: list[str], at: int, randomly: random.Random) -> None:
    for index in range(at, min(at + randomly.randint(1, 4), len(lines))):
        lines[index] = "    " + lines[index] if randomly.random() < 0.5 else lines[index].replace("    ", "", 1)


def _comment(lines: list[str], at: int, randomly: random.Random) -> None:
    note = f"# note {randomly.randrange(1000)}"
    if randomly.random() < 0.5:
        lines[at] = lines[at].rstrip("\r\n") + f"  {note}\n"
    else:
        lines.insert(at, " " * randomly.randrange(12) + note + "\n")


def _blank(lines: list[str], at: int, randomly: random.Random) -> None:
    lines.insert(at, randomly.choice(("\n", "   \n", "\t\n", "\x0c\n", "\r\n", "\n\n\n", "\\\n")))


def _join(lines: list[str], at: int, randomly: random.Random) -> None:
    if at + 1 < len(lines):
        glue = randomly.choice(("; ", ";", " ", " \\\n", "\r"))
        lines[at : at + 2] = [lines[at].rstrip("\r\n") + glue + lines[at + 1].lstrip()]


def _feed(lines: list[str], at: int, randomly: random.Random) -> None:
    lines[at] = randomly.choice(("\x0c", "  \x0c")) + lines[at]


def _swap(lines: list[str], at: int, randomly: random.Random) -> None:
    other = randomly.randrange(len(lines))
    lines[at], lines[other] = lines[other], lines[at]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())].rstrip("\r\n")


def _change_token(text: str, randomly: random.Random, others: list[bytes]) -> str:
    found = list(re.finditer(r"\w+|[^\w\s]", text))
    if not found:
        return text
    place, other = randomly.choice(found), randomly.choice(found)
    token = place.group()
    new = randomly.choice((f"({token})", f"({token}\n)", other.group(), randomly.choice(TOKENS), "", f"{token} ", "é"))
    return text[: place.start()] + new + text[place.end() :]


def _change_newlines(text: str, randomly: random.Random, others: list[bytes]) -> str:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain.replace("\n", randomly.choice(("\n", "\r\n", "\r")))


def _change_indents(text: str, randomly: random.Random, others: list[bytes]) -> str:
    return re.sub(r"(?m)^(?:    )+", lambda found: randomly.choice(("\t", "  ")) * (len(found[0]) // 4), text)


def _change_ends(text: str, randomly: random.Random, others: list[bytes]) -> str:
    return randomly.choice((text.rstrip("\r\n"), "\ufeff" + text, "# coding: utf-8\n" + text, text + "# end"))


def _cross(text: str, randomly: random.Random, others: list[bytes]) -> str:
    other = randomly.choice(others)[1:].decode("utf-8", "replace").splitlines(keepends=True)
    at = randomly.randrange(len(other) or 1)
    lines = text.splitlines(keepends=True)
    where = randomly.randrange(len(lines) + 1)
    return "".join([*lines[:where], *other[at : at + randomly.randint(1, 12)], *lines[where:]])


_EDITS: tuple[Edit, ...] = (
    *map(_on_lines, (_drop, _copy, _add, _add, _nest, _nest, _shift, _comment, _comment, _blank, _join, _feed, _swap)),
    _change_token,
    _change_token,
    _change_newlines,
    _change_indents,
    _change_ends,
    _cross,
)


# -- the run ---------------------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> None:
    """Fuzz until the time is up, or until the first defect."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep-going", action="store_true", help="report each kind of defect once and go on")
    parser.add_argument("--found", type=Path, default=Path("build/fuzz"), help="where inputs with defects are put")
    options = parser.parse_args(arguments)
    import atheris

    with atheris.instrument_imports(include=["autograph_torch"]):
        import autograph_torch.pipeline  # noqa: F401
    known: set[str] = set()

    def look(data: bytes) -> None:
        try:
            check(data)
        except Exception as error:
            _report(error, data, options.found, known)
            if not options.keep_going:
                raise

    starts = seeds()

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        randomly = random.Random(seed)
        if not data or randomly.random() < 0.02:
            return atheris.Mutate(data, longest)
        return mutated(data, randomly, starts)[:longest]

    with tempfile.TemporaryDirectory() as corpus:
        for number, start in enumerate(starts):
            Path(corpus, str(number)).write_bytes(start)
        flags = [f"-max_total_time={options.seconds}", f"-seed={options.seed}", f"-max_len={LONGEST}", "-timeout=60"]
        atheris.Setup([sys.argv[0], *flags, corpus], look, custom_mutator=mutate)
        atheris.Fuzz()


def _report(error: Exception, data: bytes, folder: Path, known: set[str]) -> None:
    """Print a defect and keep its input, the first time that one of its kind is seen."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "fuzz_source" not in f.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else re.sub(r"\W+.*", "", str(error))
    kind = f"{type(error).__name__} {where} {re.sub(r'[0-9a-fx`].*', '', str(error))[:40]}"
    if kind in known:
        return
    known.add(kind)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{len(known)}.py"
    file.write_bytes(data)
    print(f"\n== {kind}\n{str(error)[:300]}\ninput: {file}", flush=True)


if __name__ == "__main__":
    main()
