"""Rewritten trees become the text that an expert would have written, and untouched text stays as it is."""

from __future__ import annotations

import io
import pathlib
import sysconfig
import textwrap
import tokenize
from collections import Counter
from typing import Any

import gast
import pytest

from autograph_torch.source.edits import patched
from autograph_torch.source.emit import function_edits
from autograph_torch.source.file import SourceFile
from autograph_torch.source.nodes import derive, name, parse_expression, rebuild, replace
from tests.source.building import (
    Rewrite,
    call,
    function,
    functions_in,
    if_to_functions,
    if_to_lambdas,
    logic_to_calls,
    loop_to_functions,
    rewritten,
    statements,
    thunk,
)


def check(before: str, rewrite: Rewrite, after: str) -> None:
    before, after = textwrap.dedent(before), textwrap.dedent(after)
    assert rewritten(before, rewrite) == after
    assert rewritten(before.replace("\n", "\r\n"), rewrite) == after.replace("\n", "\r\n")
    assert rewritten(before.rstrip("\n"), rewrite) == after.rstrip("\n")
    commented = "# coding: latin-1\n# é\n"
    assert rewritten((commented + before).encode("latin-1"), rewrite) == commented + after


def test_branches_that_return_become_lambdas() -> None:
    check(
        """\
        def func(x):
            all_pos = torch.all(x >= 0)
            if all_pos:
                return x + 10
            else:
                return x - 10

        y = 1
        """,
        statements(if_to_lambdas),
        """\
        def func(x):
            all_pos = torch.all(x >= 0)
            return ag.cond(all_pos, lambda: x + 10, lambda: x - 10)

        y = 1
        """,
    )


def test_old_expressions_keep_their_text() -> None:
    check(
        """\
        def func(x):
            if (x>0xFF):
                return "a"   'b'
            else:
                return (x,  1)
        """,
        statements(if_to_lambdas),
        """\
        def func(x):
            return ag.cond(x>0xFF, lambda: "a"   'b', lambda: (x,  1))
        """,
    )


def test_an_open_tuple_and_a_yield_get_parentheses() -> None:
    check(
        """\
        def func(x):
            if x if x else y:
                return x, 1
            else:
                return (yield x)
        """,
        statements(if_to_lambdas),
        """\
        def func(x):
            return ag.cond(x if x else y, lambda: (x, 1), lambda: (yield x))
        """,
    )


def test_one_lost_comment_goes_to_the_end_of_the_line() -> None:
    check(
        """\
        def func(x):
            # above
            if p:
                return x  # why
            else:
                return y
        """,
        statements(if_to_lambdas),
        """\
        def func(x):
            # above
            return ag.cond(p, lambda: x, lambda: y)  # why
        """,
    )


def test_several_lost_comments_go_above() -> None:
    check(
        """\
        def func(x):
            # above
            if p:  # one
                # two
                return x  # three
            # four
            else:  # five
                return y  # six
                # seven
            # eight
        """,
        statements(if_to_lambdas),
        """\
        def func(x):
            # above
            # one
            # two
            # three
            # four
            # five
            # six
            return ag.cond(p, lambda: x, lambda: y)
            # seven
            # eight
        """,
    )


def test_comments_of_a_branch_stand_above_its_line_if_it_has_one() -> None:
    value = "a_rather_long_name + another_rather_long_name"
    check(
        f"""\
        def func(x):
            # above
            if p:  # why
                return {value}  # one
            # about the rest
            else:
                # two
                return -({value})
        """,
        statements(if_to_lambdas),
        f"""\
        def func(x):
            # above
            # why
            # about the rest
            return ag.cond(
                p,
                # one
                lambda: {value},
                # two
                lambda: -({value}),
            )
        """,
    )


def test_long_calls_are_broken_one_argument_a_line() -> None:
    long = "torch.clamp(x, min=-1000000, max=1000000) + torch.relu(x)"
    longer = f"{long} * {long}"
    before = f"def func(x):\n    if p:\n        return {long}\n    else:\n        return {longer}\n"
    assert len(longer) > 79
    source = rewritten(before + "#" * 100 + "\n", statements(if_to_lambdas))
    assert source == (
        f"def func(x):\n    return ag.cond(\n        p,\n        lambda: {long},\n        lambda: (\n"
        f"            {longer}\n        ),\n    )\n" + "#" * 100 + "\n"
    )


def test_branches_become_functions_with_their_lines() -> None:
    check(
        '''\
        def func(x):
            # above
            if (p and   # odd
                    x > 0):  # why
                # first
                x = x + 10  # big

                y = """a
          b"""
                # tail
            # above else
            else:  # otherwise
                x = 2; y = 0x10  # both

            # after
            return x, y
        ''',
        statements(if_to_functions),
        '''\
        def func(x):
            # above
            def if_true():  # why
                # first
                x = x + 10  # big

                y = """a
          b"""
                # tail
                return x, y
            # above else
            def if_false():  # otherwise
                x = 2; y = 0x10  # both
                return x, y
            x, y = ag.cond(
                (p and   # odd
                        x > 0),
                if_true,
                if_false,
            )

            # after
            return x, y
        ''',
    )


def test_an_elif_moves_into_a_function_as_calls() -> None:
    check(
        """\
        def func(x):
            if p:
                x = 1
            # about q
            elif q:  # why q
                x = 2
            else:
                x = 3
            return x
        """,
        statements(if_to_functions),
        """\
        def func(x):
            def if_true():
                x = 1
                return x, y
            def if_false():
                # about q
                def if_true():  # why q
                    x = 2
                    return x, y
                def if_false():
                    x = 3
                    return x, y
                x, y = ag.cond(q, if_true, if_false)
                return x, y
            x, y = ag.cond(p, if_true, if_false)
            return x
        """,
    )


def test_a_pristine_elif_moves_as_if() -> None:
    def rewrite(root: Any) -> Any:
        branch = root.body[0]
        helper = replace(branch, function("if_false", branch.orelse))
        return derive(root, body=[helper, replace(branch, gast.Expr(call("ag.cond", branch.test, name("if_false"))))])

    check(
        """\
        def func(x):
            if p:
                pass
            # about q
            elif q:  # why q
                x = 2
            else: x = 3
        """,
        rewrite,
        """\
        def func(x):
            def if_false():
                # about q
                if q:  # why q
                    x = 2
                else: x = 3
            ag.cond(p, if_false)
        """,
    )


def rest_into_else(root: Any) -> Any:
    return derive(root, body=[derive(root.body[0], orelse=root.body[1:])])


def test_the_rest_moves_into_the_else() -> None:
    check(
        '''\
        def func(x):
            if p:
                return a  # one

            # rest
            z = """
            """
            return (b +
                c)  # two
        ''',
        rest_into_else,
        '''\
        def func(x):
            if p:
                return a  # one
            else:
                # rest
                z = """
            """
                return (b +
                    c)  # two
        ''',
    )


def test_an_if_that_moves_into_an_else_becomes_elif() -> None:
    check(
        """\
        def func(x):
            if p: return a

            # about q
            if q:
                return b
            else:
                return c
        """,
        rest_into_else,
        """\
        def func(x):
            if p: return a
            # about q
            elif q:
                return b
            else:
                return c
        """,
    )


def test_only_the_changed_expression_changes() -> None:
    check(
        """\
        def func(x, *, k: int=3) -> "T":  # sig
            while(x>0)and y : # loop
                y  =  [1,  x if p else-1,   # c
                       not(x)]  ; z=2
            assert x or(y), "m"
            return not x
        """,
        logic_to_calls,
        """\
        def func(x, *, k: int=3) -> "T":  # sig
            while ag.and_(x>0, lambda: y) : # loop
                y  =  [1,  ag.cond(p, lambda: x, lambda: -1),   # c
                       ag.not_(x)]  ; z=2
            assert ag.or_(x, lambda: y), "m"
            return ag.not_(x)
        """,
    )


def test_a_weaker_expression_gets_parentheses_where_it_needs_them() -> None:
    def rewrite(root: Any) -> Any:
        def visit(node: Any) -> Any:
            if isinstance(node, gast.Name) and node.id == "t":
                return replace(node, parse_expression("a + b"))
            return node if isinstance(node, gast.Name) else rebuild(node, visit)

        return visit(root)

    check(
        """\
        def func(x):
            y = t*2 + (t)*3 - t
            return f(t, k=t)[t] if t else-t.u
        """,
        rewrite,
        """\
        def func(x):
            y = (a + b)*2 + (a + b)*3 - (a + b)
            return f(a + b, k=(a + b))[a + b] if a + b else-(a + b).u
        """,
    )


def test_loops_become_functions() -> None:
    check(
        """\
        def func(x):
            for i in range( 3 ):  # trips
                x = x * 2  # twice
                # tail

            while x.norm()>1: x = x / 2
            return x
        """,
        statements(loop_to_functions),
        """\
        def func(x):
            def body(i, x, y):  # trips
                x = x * 2  # twice
                # tail
                return x, y
            x, y = ag.for_loop(range( 3 ), body, (x, y))

            def body(i, x, y):
                x = x / 2
                return x, y
            x, y = ag.while_loop(lambda x, y: x.norm()>1, body, (x, y))
            return x
        """,
    )


def test_tabs_and_depth() -> None:
    check(
        "class A:\n\t@dec\n\tdef f(self):\n\t\tif p:\n\t\t\tif q: x = 1; y = 2  # c\n\t\treturn x\n\n\tz = 1\n",
        statements(if_to_functions),
        "class A:\n\t@dec\n\tdef f(self):\n\t\tdef if_true():\n\t\t\tdef if_true():\n\t\t\t\tx = 1; y = 2  # c\n"
        "\t\t\t\treturn x, y\n\t\t\tx, y = ag.cond(q, if_true)\n\t\t\treturn x, y\n"
        "\t\tx, y = ag.cond(p, if_true)\n\t\treturn x\n\n\tz = 1\n",
    )


def test_two_statements_on_a_line_can_part() -> None:
    def rewrite(root: Any) -> Any:
        return derive(root, body=[root.body[0], replace(root.body[1], gast.Expr(call("b"))), root.body[2]])

    check(
        "def f():\n    a = 1; b = 2; c = 3  # all\n",
        rewrite,
        "def f():\n    a = 1\n    b()\n    c = 3  # all\n",
    )


def test_a_statement_can_be_printed_twice_or_dropped() -> None:
    def rewrite(root: Any) -> Any:
        return derive(root, body=[root.body[0], root.body[0], root.body[2]])

    check(
        "def f():\n    a = 1  # one\n    b = 2  # two\n    return a\n",
        rewrite,
        "def f():\n    a = 1  # one\n    a = 1  # one\n    # two\n    return a\n",
    )


def test_with_and_try_keep_their_headers() -> None:
    def twice(node: Any) -> Any:
        return [node, gast.Expr(call("log"))] if isinstance(node, gast.Return) else node

    check(
        """\
        async def func(x):
            async with a as b, \\
                    c:  # with
                try:  # try
                    return 1  # one
                # about E
                except (E,  F) as e :  # except
                    return 2
                else: return 3
                finally:
                    # nothing
                    pass
        """,
        statements(twice),
        """\
        async def func(x):
            async with a as b, \\
                    c:  # with
                try:  # try
                    return 1  # one
                    log()
                # about E
                except (E,  F) as e :  # except
                    return 2
                    log()
                else:
                    return 3
                    log()
                finally:
                    # nothing
                    pass
        """,
    )


def test_match_keeps_its_cases() -> None:
    check(
        """\
        def func(x):
            match x:  # subject
                # first
                case [a, *_] if a or b :  # one
                    if p: x = 1
                case {"k": 1, **rest}: pass
        """,
        lambda root: logic_to_calls(statements(if_to_functions)(root)),
        """\
        def func(x):
            match x:  # subject
                # first
                case [a, *_] if ag.or_(a, lambda: b) :  # one
                    def if_true():
                        x = 1
                        return x, y
                    x, y = ag.cond(p, if_true)
                case {"k": 1, **rest}: pass
        """,
    )


def test_wholly_new_compound_statements_are_printed() -> None:
    def rewrite(root: Any) -> Any:
        loop = "for i, j in z:\n    k\nelse:\n    l\n"
        blocks = "with a as b:\n    c\ntry:\n    d\nexcept E as e:\n    f\nfinally:\n    g\n"
        return derive(root, body=gast.parse(loop + blocks).body)

    check(
        "def f():\n  if p:\n    pass\n",
        rewrite,
        "def f():\n  for i, j in z:\n    k\n  else:\n    l\n  with a as b:\n    c\n"
        "  try:\n    d\n  except E as e:\n    f\n  finally:\n    g\n",
    )


def test_new_strings_take_the_quotes_of_the_file() -> None:
    def rewrite(root: Any) -> Any:
        return derive(root, body=[gast.Return(call("ag.cond", gast.Constant("k", None), gast.Constant('"', None)))])

    check('def f():\n    return "a"\n', rewrite, 'def f():\n    return ag.cond("k", \'"\')\n')
    check("def f():\n    return 'a'\n", rewrite, "def f():\n    return ag.cond('k', '\"')\n")


def test_the_header_can_change() -> None:
    def rewrite(root: Any) -> Any:
        return derive(root, decorator_list=[], body=root.body)

    check("@a\ndef f(x = 1):  # c\n    return x\n", rewrite, "def f(x=1):  # c\n    return x\n")


def test_moved_lines_that_start_with_a_change_are_indented() -> None:
    def rewrite(root: Any) -> Any:
        branch, *rest = root.body
        moved = [derive(node, targets=[replace(node.targets[0], name("z", True))]) for node in rest]
        return derive(root, body=[derive(branch, orelse=moved)])

    check(
        "def f():\n    if p:\n        pass\n    a = 1  # one\n\n    b  =  2\n",
        rewrite,
        "def f():\n    if p:\n        pass\n    else:\n        z = 1  # one\n\n        z  =  2\n",
    )


def test_words_do_not_grow_together() -> None:
    def rewrite(root: Any) -> Any:
        value = root.body[0].value
        changed = derive(value, body=replace(value.body, name("one")), orelse=replace(value.orelse, name("p")))
        return derive(root, body=[derive(root.body[0], value=changed)])

    check("def f():\n    return(1)if x else[p]\n", rewrite, "def f():\n    return(one)if x else p\n")
    check("def f():\n    return 1if x else[p]\n", rewrite, "def f():\n    return one if x else p\n")


def test_an_expression_in_a_long_line_is_broken() -> None:
    names = [f"a_rather_long_name_{index}" for index in range(3)]
    check(
        f"def f():\n    y = {names[0]} if {names[1]} else {names[2]}  # why\n",
        logic_to_calls,
        f"def f():\n    y = ag.cond(\n        {names[1]},\n"
        f"        lambda: {names[0]},\n        lambda: {names[2]},\n    )  # why\n",
    )


def test_pep_695_and_except_star_survive() -> None:
    text = (
        "def f[T: int](x: T):  # sig\n    type A = int\n    try:\n        if p: x = 1\n    except* E:\n        pass\n"
    )
    try:
        compile(text, "t.py", "exec")
    except SyntaxError:
        pytest.skip("needs Python 3.12")
    out = rewritten(text, statements(if_to_functions))
    assert out.startswith("def f[T: int](x: T):  # sig\n    type A = int\n    try:\n        def if_true():\n")
    assert out.endswith("    except* E:\n        pass\n")


STDLIB = pathlib.Path(sysconfig.get_paths()["stdlib"])
FILES = ["argparse.py", "asyncio/base_events.py", "textwrap.py", "tarfile.py", "test/test_grammar.py"]
REWRITES = {
    "if to functions": statements(if_to_functions),
    "loops to functions": statements(loop_to_functions),
    "logic to calls": logic_to_calls,
}


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT)


@pytest.fixture(scope="module", params=FILES)
def real_file(request: pytest.FixtureRequest) -> SourceFile:
    path = STDLIB / request.param
    if not path.exists():
        pytest.skip("not part of this installation")
    return SourceFile.read(path.read_bytes(), str(path))


def test_the_same_tree_needs_no_edits(real_file: SourceFile) -> None:
    for original in functions_in(real_file):
        assert function_edits(real_file, original, derive(original)) == []


@pytest.mark.parametrize("title", REWRITES)
def test_real_files_keep_their_comments_and_other_lines(real_file: SourceFile, title: str) -> None:
    """`function_edits` itself compares the tree; here all functions change at once."""
    edits = []
    for original in functions_in(real_file):
        edits += function_edits(real_file, original, REWRITES[title](original))
    assert edits
    text = patched(real_file.utf8, edits).decode()
    compile(text, "t.py", "exec", flags=0x400, dont_inherit=True)  # parse only
    assert not comments(real_file.text) - comments(text)


def test_edits_touch_only_the_lines_that_change() -> None:
    text = "def f():\n    a = 1\n    if p:\n        b = 2\n    c = 3\n    d = not c\n    e = 4\n"
    source = SourceFile.read(text.encode(), "t.py")
    original = functions_in(source)[0]
    edits = function_edits(source, original, logic_to_calls(original))
    assert [source.slice(edit.start, edit.end) for edit in edits] == ["    d = not c\n"]


def test_lambda_with_an_argument() -> None:
    def rewrite(root: Any) -> Any:
        old = root.body[0]
        return derive(root, body=[replace(old, gast.Return(call("ag.map", thunk(old.value, "x", "y"))))])

    check("def f():\n    return x  +  y\n", rewrite, "def f():\n    return ag.map(lambda x, y: x  +  y)\n")


def test_comments_for_tools_stay_with_the_test() -> None:
    check(
        """\
        def func(x):
            if p:  # type: ignore[truthy]
                x = x + 1
                y = x  # one
            else:  # noqa: E501
                y = x  # two
            return y
        """,
        statements(if_to_functions),
        """\
        def func(x):
            def if_true():
                x = x + 1
                y = x  # one
                return x, y
            def if_false():  # noqa: E501
                y = x  # two
                return x, y
            x, y = ag.cond(p, if_true, if_false)  # type: ignore[truthy]
            return y
        """,
    )


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("x", "    return ag.cond(p, lambda: x, lambda: y)  # noqa: E501, a long reason why this is as it has to be"),
        (f"f(x, '{'a' * 60}')", "    return ag.cond(  # noqa: E501, a long reason why this is as it has to be"),
    ],
)
def test_a_comment_for_a_tool_goes_to_the_end_of_the_first_line_whatever_its_length(value: str, line: str) -> None:
    comment = line.partition("#")[2]
    before = f"def func(x):\n    if p:  #{comment}\n        return {value}\n    else:\n        return y\n"
    assert rewritten(before, statements(if_to_lambdas)).splitlines()[1] == line


def test_long_lists_of_names_are_broken() -> None:
    names = [f"a_rather_long_name_{number}" for number in range(4)]
    listed = ", ".join(names)
    before = f"def func({listed}):\n    if p:\n        x = {listed}\n    else:\n        x = 1\n    {listed} = x\n"

    def rewrite(root: Any) -> Any:
        head = gast.arguments([name(n) for n in names], [], None, [], [], None, [])
        value = call("ag.cond", parse_expression("p"), gast.Lambda(head, parse_expression("x")))
        targets = gast.Tuple([name(n, store=True) for n in names], gast.Store())
        return rebuild(root, lambda node: derive(root, body=[gast.Assign([targets], value, None)]).body[0])

    text = rewritten(before, lambda root: derive(root, body=[rewrite(root).body[0]]))
    assert max(map(len, text.splitlines())) <= 110
    assert "    ) = ag.cond(\n        p,\n        lambda a_rather_long_name_0, a_rather_long_name_1," in text
