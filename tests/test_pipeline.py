"""A whole file: what is rewritten changes, every other byte stays, and what cannot be read is refused with its line."""

from __future__ import annotations

import codecs
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch

from autograph_torch import convert, rewriting
from autograph_torch.cli.converting import _deep_recursion
from autograph_torch.diagnostics import RULES, SourceError
from autograph_torch.pipeline import Options, convert_source
from tests.harness import from_text

IMPORT = "import autograph_torch.runtime as ag"
BEFORE = """\
    if x.sum() > 0:
        x = x + 1
"""
AFTER = """\
    x = ag.cond(x.sum() > 0, lambda: x + 1, lambda: x)
"""

# Text around one rewritten statement: all of it must come back as it is.
ODD = '''\
#!/usr/bin/env python
"""Docstring   with trailing spaces   \t
and a \\
backslash."""

from __future__ import annotations
import os,sys ;import torch
{import}

CONSTANT = ( 1,2 ,
   3 )   # odd   spacing


@decorated ( 1 )
def odd( x : torch.Tensor ,y = { 'a' : 1 } ) :   # why
    """It's "odd"."""
    z = [ i for i in y ] ; w = lambda a , b = 1 : a if b else 2
    if y :
            call ( 'deep' )   # twelve
    s = f"{x!r:>{10}}" 'and' r"\\d"; t = \'\'\'
  three "quotes"
\'\'\'
{statement}
    # after
    return x ,\\
        s

if __name__ == '__main__' : odd ( 1 )   # end
class   Empty ( object ) : pass
'''


def text(source: str, options: Options = Options()) -> str:
    return convert_source(source.encode(), "t.py", options).output.decode()


def file(statement: str, imports: str) -> str:
    """ODD with a statement in it; `imports` stands where the import belongs."""
    return ODD.replace("{import}\n", imports).replace("{statement}\n", statement)


def test_every_other_byte_stays() -> None:
    assert text(file(BEFORE, "")) == file(AFTER, IMPORT + "\n")


@pytest.mark.parametrize("newline", ["\r\n", "\r"], ids=["crlf", "cr"])
def test_newlines_stay(newline: str) -> None:
    before, after = file(BEFORE, ""), file(AFTER, IMPORT + "\n")
    assert text(before.replace("\n", newline)) == after.replace("\n", newline)


def test_mixed_newlines_stay_where_they_are() -> None:
    before = "import torch\r\n\r\ndef f(x):\n    y = x.sum()\r\n    if y > 0:\r\n        x = -x\r\n"
    after = f"import torch\r\n{IMPORT}\r\n\r\ndef f(x):\n    y = x.sum()\r\n"
    after += "    x = ag.cond(y > 0, lambda: -x, lambda: x)\r\n"
    end = "    return x\n# end\r"
    assert text(before + end) == after + end


SMALL = "import torch\n{}\n# é\ndef f(x: torch.Tensor):\n{}    return x  # ü\n"


@pytest.mark.parametrize(
    ("head", "codec", "mark"),
    [
        ("", "utf-8", codecs.BOM_UTF8),
        ("# coding: utf-8\n", "utf-8", codecs.BOM_UTF8),
        ("# -*- coding: latin-1 -*-\n", "latin-1", b""),
        ("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n", "cp1252", b""),
    ],
    ids=["bom", "bom and cookie", "latin-1", "cp1252 on line two"],
)
def test_encoding_stays(head: str, codec: str, mark: bytes) -> None:
    before, after = head + SMALL.format("", BEFORE), head + SMALL.format(IMPORT + "\n", AFTER)
    assert convert_source(mark + before.encode(codec), "t.py").output == mark + after.encode(codec)


def test_file_without_a_newline_at_its_end() -> None:
    before = "import torch\n\n\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x"
    after = f"import torch\n{IMPORT}\n\n\ndef f(x):\n    return ag.cond(x.sum() > 0, lambda: x, lambda: -x)"
    assert text(before) == after


def test_form_feeds_and_tabs() -> None:
    before = "import torch\n\x0c\ndef f(x):\n\ty = x.sum()\n\tif y > 0:\n\t\tx = -x\n\treturn x\n\x0c\n"
    after = f"import torch\n{IMPORT}\n\x0c\ndef f(x):\n\ty = x.sum()\n"
    after += "\tx = ag.cond(y > 0, lambda: -x, lambda: x)\n\treturn x\n\x0c\n"
    assert text(before) == after


def test_a_form_feed_in_front_of_what_moves() -> None:
    before = "import torch\ndef f(x: torch.Tensor):\n    if x.sum() > 0:\n        return x\n"
    before += "    if x.min() > 0:\n\x0c        def g(y):\n            return y\n        x = g(x)\n    return x\n"
    done = convert_source(before.encode(), "t.py")
    assert b"            def g(y):\n                return y\n            x = g(x)\n" in done.output


def test_messages_show_the_line_of_the_parser() -> None:
    text = "import torch\n\x0c\nS = '\u2028'\ndef f(x: torch.Tensor):\n    return x if x.sum() > 0 else -x\n"
    (found,) = convert_source(text.encode(), "t.py").diagnostics
    assert (found.line, found.snippet) == (5, "    return x if x.sum() > 0 else -x")


def test_line_separators_in_strings_are_no_newlines() -> None:
    odd = '\nS = "a\u2028b\x0bc"\n'
    before, after = SMALL.format(odd, BEFORE), SMALL.format(IMPORT + "\n" + odd, AFTER)
    assert text(before) == after


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n\n",
        b"x = 1",
        codecs.BOM_UTF8,
        codecs.BOM_UTF8 + b"import torch\r\nx = torch.ones(2)\r\n",
        b"import torch\nx = torch.ones(2)\nif x.sum() > 0:\n    print(x)\n",
        "# coding: latin-1\ndef f(x):\n    return 'é'\n".encode("latin-1"),
        b"def f(x): return x if x else None\r",
        b"class A:\n\tdef f(self):\n\t\tpass # tab\n",
    ],
    ids=["empty", "newlines", "no newline", "bom only", "bom and crlf", "module level", "latin-1", "cr", "tabs"],
)
def test_nothing_to_do(raw: bytes) -> None:
    done = convert_source(raw, "t.py")
    assert done.output is raw
    assert not done.changed and done.diagnostics == ()


def test_converting_twice_changes_nothing() -> None:
    once = convert_source(file(BEFORE, "").encode(), "t.py")
    twice = convert_source(once.output, "t.py")
    assert once.changed and not twice.changed
    assert twice.output == once.output


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_the_text_does_not_depend_on_the_order_of_sets(seed: str) -> None:
    """Three names that the `if` itself does not read, and so nothing else puts in an order."""
    program = """
from autograph_torch.pipeline import convert_source
source = '''
import torch
def f(xs):
    alpha, beta, gamma = 0.5, 1.5, 2.5
    for row in xs:
        alpha = alpha * 2.0
        beta = beta * 2.0
        gamma = gamma * 2.0
        if row.sum() > 0:
            break
    return alpha, beta, gamma
'''
print(convert_source(source.encode(), "t.py").output.decode())
"""
    command = [sys.executable, "-c", program]
    output = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True).stdout
    assert "reads=(alpha, beta, gamma)" in output


def test_a_form_feed_before_the_indentation() -> None:
    before = (
        "import torch\ndef func(x: torch.Tensor):\n    if x.sum() > 0:\n        return x\n    y = 1\n\f    return y\n"
    )
    assert "        y = 1\n\f        return y\n" in text(before)


def test_formatted_strings_are_printed_whole() -> None:
    before = """\
import torch
def func(a: torch.Tensor, n):
    y = f"{n!r:>{n}} is {'large' if a.any() else 'small'}"
    return y
"""
    after = text(before).replace("lambda :", "lambda:")  # as Python 3.10 unparses it
    assert """f"{n!r:>{n}} is {ag.cond(a.any(), lambda: 'large', lambda: 'small')}\"""" in after


def test_form_feeds_in_front_of_what_is_rewritten_stay() -> None:
    before = (
        "import torch\ndef f(x: torch.Tensor):\n\f    if x.sum() > 0:\n        x = x + 1\n \f    y = x\n    return y\n"
    )
    after = f"import torch\n{IMPORT}\n\n\ndef f(x: torch.Tensor):\n"
    after += "\f    x = ag.cond(x.sum() > 0, lambda: x + 1, lambda: x)\n \f    y = x\n    return y\n"
    assert text(before) == after


def test_the_comment_of_an_assertion_that_becomes_an_if() -> None:
    before = "import torch\ndef f(x: torch.Tensor):\n    return x\n"
    assert "    # why\n    if ag.not_(x.all()):\n" in text(before + "    assert x.all()  # why\n")
    assert "    if ag.not_(x.all()):  # noqa: S101\n" in text(before + "    assert x.all()  # noqa: S101\n")


def test_a_type_comment_comes_first_on_its_line() -> None:
    before = "import torch\ndef f(x: torch.Tensor):\n    if x.sum() > 0:  # why\n        y = x  # type: torch.Tensor\n"
    after = text(before + "    else:\n        y = -x\n    return y\n")
    assert "    y = ag.cond(x.sum() > 0, lambda: x, lambda: -x)  # type: torch.Tensor  # why\n" in after


def test_a_definition_behind_a_form_feed() -> None:
    before = "import torch\n    \fdef func(x: torch.Tensor):\n    if x.sum() > 0:\n        x = x + 1\n    return x\n"
    assert "x = ag.cond(x.sum() > 0, lambda: x + 1, lambda: x)\n" in text(before)


@pytest.mark.parametrize(
    "odd",
    [
        "    if x.sum() > 0: \\\nx = x + 1\n",
        "    for row in x.nonzero(): \\\nx = x + row\n",
        "    if x.sum() > 0:\n        return x\n\\\n    if x.max() > 0:\n        return -x\n",
    ],
)
def test_odd_line_continuations(odd: str) -> None:
    """Python 3.11 reads some in two ways; where the new text cannot be made, the old one stays."""
    before = f"import torch\ndef func(x: torch.Tensor):\n{odd}    return x\n"
    done = convert_source(before.encode(), "t.py")
    compile(done.output, "t.py", "exec")
    codes = [found.code for found in done.diagnostics]
    assert done.changed or codes == ["AG290"]


@pytest.mark.parametrize("indent", ["", "  ", "\f "])
def test_a_line_continuation_that_nothing_stands_on(indent: str) -> None:
    """Only some of them are read in two ways: `else` must be found where it stands."""
    before = "import torch\ndef func(x: torch.Tensor, p):\n    if p:\n        y = x if x.sum() > 0 else -x\n\\\n"
    before += f"{indent}# note\n    else:\n        y = x if x.max() > 0 else -x\n    return y\n"
    after = text(before)
    assert f"\n\\\n{indent}# note\n    else:\n        y = ag.cond(x.max() > 0, lambda: x, lambda: -x)\n" in after


def test_text_that_parses_and_is_no_program() -> None:
    before = "import torch\ndef func(x: torch.Tensor):\n    if x.sum() > 0:\n        x = *x\n    return x\n"
    with pytest.raises(SourceError, match="t.py:4:13: AG301 can't use starred expression here"):
        text(before)


def test_comments_move_with_their_statements() -> None:
    before = """\
import torch


def f(x: torch.Tensor):
    # above
    if x.sum() > 0:  # header
        # first
        x = x + 1  # beside the first
        # second

        x = x * 2
        # last in the branch
    # above else
    else:  # header of else
        x = x - 1  # beside
        x = x / 2
    # below
    return x
"""
    after = text(before)
    comments = [line[line.index("#") :] for line in before.splitlines() if "#" in line]
    assert [line[line.index("#") :] for line in after.splitlines() if "#" in line] == comments
    assert "x = x + 1  # beside the first\n" in after
    assert "    # below\n    return x\n" in after
    compile(after, "t.py", "exec")


def test_several_functions_of_a_file() -> None:
    function = "def {}(x: torch.Tensor):\n{}    return x\n"
    parts = [("a", BEFORE, AFTER), ("b", "    x = x * 1.50\n", "    x = x * 1.50\n"), ("c", BEFORE, AFTER)]
    before = "import torch\n\n" + "".join(function.format(name, old) for name, old, _ in parts)
    after = f"import torch\n{IMPORT}\n\n" + "".join(function.format(name, new) for name, _, new in parts)
    assert text(before) == after


def test_functions_everywhere() -> None:
    """In classes, conditions, `try` and other functions; each is rewritten once."""
    before = """\
import torch

if torch.cuda.is_available():
    def f(x):
        y = x.abs()
        return y if y.sum() > 0 else -y
else:
    try:
        class A:
            class B:
                def g(self, x: torch.Tensor):
                    def h(z):
                        return z if z.sum() > 0 else x
                    return h(x) if x.sum() > 0 else x
    except ImportError:
        pass
"""
    after = (
        before.replace("import torch\n\n", f"import torch\n{IMPORT}\n\n")
        .replace("y if y.sum() > 0 else -y", "ag.cond(y.sum() > 0, lambda: y, lambda: -y)")
        .replace("z if z.sum() > 0 else x", "ag.cond(z.sum() > 0, lambda: z, lambda: x)")
        .replace("h(x) if x.sum() > 0 else x", "ag.cond(x.sum() > 0, lambda: h(x), lambda: x)")
    )
    assert text(before) == after


@pytest.mark.parametrize(
    "head",
    ["import autograph_torch.runtime as ag\nimport torch\n", "import torch\nimport autograph_torch.runtime as ag\n"],
)
def test_import_is_added_once(head: str) -> None:
    assert text(head + "def f(x: torch.Tensor):\n" + BEFORE).count(IMPORT) == 1


# -- what the user says -----------------------------------------------------------------------------------------------

SITE = "import torch\n\ndef f(x: torch.Tensor):\n    {0}if x.sum() > 0:{1}\n        x = x + 1\n    return x\n"


@pytest.mark.parametrize(
    "source",
    [
        SITE.format("", "  # autograph: skip"),
        "# autograph: skip-file\n" + SITE.format("", ""),
        "# autograph: off\n" + SITE.format("", ""),
        SITE.format("# autograph: off\n    ", "\n        # autograph: on"),
        SITE.format("", "").replace("Tensor):", "Tensor):  # autograph: skip"),
    ],
    ids=["skip", "skip-file", "off", "off and on", "skip on the def line"],
)
def test_directives_leave_code_alone(source: str) -> None:
    assert text(source) == source


SKIPPED = [
    "z = x.any() and y.any()",
    "z = not x.any()",
    "assert x.all()",
    "z = torch.equal(x, y)",
    "z = x if x.sum() > 0 else y",
    "z = any(t.isnan().any() for t in (x, y))",
    "if x.sum() > 0:{}\n        print('big')\n        x = -x",
    "if x.sum() > 0:{}\n        if y.sum() > 0:\n            return x",
    "while x.sum() > 0:{}\n        x = x - 1",
    "for i in range(10):{}\n        if x.sum() > i:\n            break",
    "for i in range(int(x.sum())):{}\n        x = x + i",
    "print(x){}",
    "def g(x: torch.Tensor):{}\n        if x.sum() > 0:\n            return x\n        return -x",
]


@pytest.mark.parametrize("statement", SKIPPED)
def test_skip_is_about_everything_in_a_statement(statement: str) -> None:
    source = f"import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n    {statement}\n    return x, y\n"
    marked = (
        source.format("  # autograph: skip")
        if "{}" in source
        else source.replace(statement, statement + "  # autograph: skip")
    )
    assert text(marked) == marked
    assert text(source.format("")) != source.format("")


def test_directive_holds_for_its_statement_alone() -> None:
    two = "import torch\n\ndef f(x: torch.Tensor):\n{}{}    return x\n"
    kept = BEFORE.replace("> 0:", "> 0:  # autograph: skip")
    assert text(two.format(kept, BEFORE)) == two.format(kept, AFTER).replace("torch\n", f"torch\n{IMPORT}\n", 1)


def test_unknown_directive_is_refused() -> None:
    with pytest.raises(SourceError) as caught:
        text("x = 1\n  # autograph: of\n")
    found = caught.value.diagnostic
    assert (found.code, found.line, found.column, found.filename) == ("AG303", 2, 3, "t.py")


# -- messages ---------------------------------------------------------------------------------------------------------


def test_diagnostics_point_into_the_file() -> None:
    source = "import torch\n\n\ndef f(é: torch.Tensor):\n    ß = 'ü'; y = é if é.sum() > 0 else -é\n    return y\n"
    (found,) = convert_source(source.encode(), "dir/t.py").diagnostics
    assert (found.code, found.filename, found.line) == ("AG106", "dir/t.py", 5)
    line = source.splitlines()[4]
    assert found.snippet == line
    assert found.column == line.index("é if") + 1


def test_diagnostics_come_in_the_order_of_the_file() -> None:
    function = "def {}(x: torch.Tensor):\n    if x.any() and x.sum() > 0:\n        return x\n    return -x\n\n"
    source = "import torch\n\n" + "".join(function.format(name) for name in "abc")
    diagnostics = convert_source(source.encode(), "t.py").diagnostics
    places = [(found.line, found.column, found.code) for found in diagnostics]
    assert places == sorted(places)
    assert [code for _, _, code in places[:3]] == ["AG101", "AG102", "AG107"]
    assert {found.code for found in diagnostics} <= set(RULES)


def test_what_is_left_alone_is_reported() -> None:
    source = "import torch\n\ndef f(x: torch.Tensor):\n    if x.sum() > 0:\n        yield x\n"
    done = convert_source(source.encode(), "t.py")
    assert not done.changed
    assert [(found.code, found.line) for found in done.diagnostics] == [("AG201", 4)]


def test_unknown_values_are_python_unless_the_caller_says_otherwise() -> None:
    source = "def f(a, b):\n    if a:\n        b = b + 1\n    return b\n"
    assert text(source) == source
    assert "b = ag.cond(a, " in text(source, Options(assume_unknown=True))


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"x = 1\ndef f(:\n    pass\n", 2),
        (b"x = 1\n\n\nif x:\n", 4),
        (b"# coding: ascii\nx = 1\ny = '\xe9'\n", 3),
        (b"# coding: nonsense\nx = 1\n", 1),
        (b"x = 1\ny = '\x00'\n", 2),
    ],
    ids=["syntax", "missing block", "undecodable", "unknown codec", "null byte"],
)
def test_unreadable_files_are_refused_with_their_line(raw: bytes, line: int) -> None:
    with pytest.raises(SourceError) as caught:
        convert_source(raw, "dir/t.py")
    found = caught.value.diagnostic
    assert (found.code, found.filename, found.line) == ("AG301", "dir/t.py", line)


def chain(length: int) -> str:
    arms = "".join(f"    elif x.sum() > {n}:\n        y = x + {n}\n" for n in range(1, length))
    body = f"    if x.sum() > 0:\n        y = x\n{arms}    else:\n        y = -x\n    return y\n"
    return f"import torch\n\n\ndef f(x):\n{body}"


def guards(length: int) -> str:
    lines = "".join(f"    if x.sum() > {n}:\n        return x + {n}\n" for n in range(length))
    return f"import torch\n\n\ndef f(x):\n{lines}    return -x\n"


@pytest.mark.parametrize("program", [chain, guards])
def test_tests_nested_too_deeply_for_the_parser_are_left_alone(
    program: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert convert_source(program(49).encode(), "t.py").changed
    # What comes behind the passes: they would take ten seconds.
    monkeypatch.setattr(rewriting, "number_in_reading_order", lambda *_: pytest.fail("the passes have run"))
    with _deep_recursion():
        done = convert_source(program(300).encode(), "t.py")
    assert not done.changed
    assert [(found.code, found.line) for found in done.diagnostics] == [("AG290", 4)]
    assert "more than 50 tests" in done.diagnostics[0].message


def test_conditional_expressions_too_deep_for_the_parser_are_left_alone() -> None:
    deep = " else ".join(f"x + {n} if x.sum() > {n}" for n in range(230))
    text = (
        f"import torch\n\n\ndef f(x):\n    return {deep} else -x\n\n\ndef g(x):\n    return -x if x.sum() > 0 else x\n"
    )
    with _deep_recursion():
        done = convert_source(text.encode(), "t.py")
    assert [(found.code, found.line) for found in done.diagnostics if found.code > "AG2"] == [("AG290", 4)]
    assert b"return ag.cond(x.sum() > 0, lambda: -x, lambda: x)" in done.output


def test_what_could_only_be_moved_stays_where_it_is() -> None:
    """What follows the first `if` could move into an `else`, but nothing would come of it."""
    before = """\
import torch


def f(xs, x: torch.Tensor):
    for y in xs:
        if x.sum() > 0:
            continue
            z = 1
        x = x + y
    return x, z
"""
    done = convert_source(before.encode(), "t.py")
    assert not done.changed
    assert [found.code for found in done.diagnostics] == ["AG202"]


@pytest.mark.parametrize("binding", ["def any(xs): return list(xs)[-1]", "from numpy import any", "any = len"])
def test_a_function_with_the_name_of_a_built_in_one_is_not_it(binding: str) -> None:
    text = f"import torch\n\n\n{binding}\n\n\ndef f(x: torch.Tensor):\n    return any(v > 0 for v in x)\n"
    assert not convert_source(text.encode(), "f.py", Options()).changed
    own = text.replace(binding, "any_of = any")
    assert b"ag.any_(" in convert_source(own.encode(), "f.py", Options()).output


def test_nor_is_one_of_the_live_surroundings() -> None:
    def last(rows: Iterable[Any]) -> Any:
        return list(rows)[-1]

    text = "def f(x):\n    return all(v > 0 for v in x)\n"
    function = from_text(text, "f", "<all>", {"all": last})
    x = torch.tensor([1.0, -1.0, 2.0])
    assert torch.equal(convert(function)(x), function(x))
