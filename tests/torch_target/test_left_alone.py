"""What torch's operators cannot express stays as it was, with a message at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograph_torch.diagnostics import Diagnostic
from autograph_torch.pipeline import Options, convert_source
from autograph_torch.source.file import SourceFile
from autograph_torch.trial.observer import OBSERVER, Observer, observed_code
from tests.torch_target.conftest import module_of

HEADER = "import torch\nimport torch.nn.functional as F\n\n\n"

# Name, body of f(x, y), further arguments of the calls, the line of the message in the body, and a part of it.
CASES = [
    ("dtypes_differ", "if x.sum() > 0:\n    y = x\nelse:\n    y = x.long()\nreturn y", 1, "int64"),
    ("ranks_differ", "if x.sum() > 0:\n    y = x\nelse:\n    y = x.sum()\nreturn y", 1, "rank 0"),
    ("a_number_and_a_tensor", "if x.sum() > 0:\n    y = 0\nelse:\n    y = x.sum()\nreturn y", 1, "a Python int"),
    ("none", "if x.sum() > 0:\n    return x\nreturn None", 1, "None"),
    ("a_list", "if x.sum() > 0:\n    y = [x]\nelse:\n    y = [x * 2]\nreturn y[0]", 1, "type list"),
    ("prints", "if x.sum() > 0:\n    print('positive')\n    x = x * 2\nreturn x", 1, "not an assignment"),
    ("only_an_effect", "if x.sum() > 0:\n    print('positive')\nreturn x", 1, "for its effect"),
    ("raises", "if x.sum() > 100:\n    raise ValueError('large')\nreturn x", 1, "raises"),
    ("appends", "found = []\nif x.sum() > 0:\n    found.append(x)\nreturn found", 2, "in place"),
    ("attribute", "if x.sum() > 0:\n    y.total = x\n    x = x * 2\nreturn x", 1, "attribute"),
    ("unbound_on_one_side", "if x.sum() > 0:\n    z = x\nif x.sum() > 0:\n    x = z * 2\nreturn x", 1, "unbound"),
    ("random_numbers", "if x.sum() > 0:\n    x = F.dropout(x, 0.5)\nreturn x", 1, "dropout"),
    (
        "random_elsewhere",
        "if x.sum() > 0:\n    if y is None:\n        x = F.dropout(x)\n    x = x * 2\nreturn x",
        1,
        "dropout",
    ),
    (
        "break_under_a_test",
        "while x.sum() < 9:\n    x = x * 2\n    if x.sum() < 0:\n        break\nreturn x",
        1,
        "left early",
    ),
    ("changing_type", "n = 0\nwhile n < x.sum():\n    n = n + x.abs().sum()\nreturn n", 2, "begins as a Python int"),
    ("loop_in_a_branch", "if x.sum() > 0:\n    while x.sum() > 1:\n        x = x / 2\nreturn x", 2, "carries `x`"),
    ("hidden_parameters", "while x.sum() > 1:\n    x = G * x\nreturn x", 1, "reads `G`"),
    ("right_operand_may_fail", "if x.sum() > 0 and x[0] > 0:\n    x = x * 2\nreturn x", 1, "right operand may fail"),
    (
        "two_names_of_a_result",
        "if x.sum() > 0:\n    a = x * 2\n    b = a\nelse:\n    a = x * 3\n    b = x * 4\na += 1\nreturn b",
        1,
        "`a` is written to behind it",
    ),
    (
        "an_argument_is_the_result",
        "z = x * 2 if x.sum() > 0 else x\nz += 1\nreturn x",
        1,
        "`z` is written to behind it",
    ),
    (
        "an_inner_one_is",
        "z = -x if x.sum() > 3 else x if x.sum() > 0 else x * 2\nz.t()[0] = 1\nreturn x",
        1,
        "behind it",
    ),
    ("a_loop_without_trips", "z = x\nwhile z.norm() > 3:\n    z = z / 2\nz.mul_(3)\nreturn x", 2, "behind it"),
    ("an_argument_as_a_carry", "while x.norm() > 3:\n    x = x / 2\ntorch.relu_(x.view(-1))\nreturn x", 1, "behind it"),
    (
        "written_to_in_the_next_trip",
        "z = x * 1\nfor k in range(2):\n    z += 1\n    if x.sum() > 0:\n        z = x\nreturn z",
        4,
        "`z` is written to behind it",
    ),
    (
        "a_view_is_written_to_in_a_branch",
        "row = x[0]\nif x.sum() > 0:\n    row += 1\n    z = x.sum()\nelse:\n    z = x.mean()\nreturn z",
        2,
        "share memory with `x`",
    ),
    (
        "what_is_written_to_and_handed_on",
        "z = x.mul_(2)\nif x.sum() > 0:\n    z += 1\n    y = x.sum()\nelse:\n    y = x.mean()\nreturn y",
        2,
        "share memory with `x`",
    ),
    (
        "held_in_a_list",
        "z = x * 2\nheld = [z]\nwhile z.norm() > 9:\n    z = z / 2\nz += 1\nreturn held[0]",
        3,
        "`z` is written to behind it",
    ),
    (
        "held_in_an_attribute",
        "z = x * 2\ny.last = z\nwhile z.norm() > 9:\n    z = z / 2\nz.mul_(2)\nreturn y.last",
        3,
        "behind it",
    ),
    (
        "handed_to_an_object",
        "z = x * 2\nKEPT.append(z)\nwhile z.norm() > 9:\n    z = z / 2\nz += 1\nreturn z",
        3,
        "behind it",
    ),
    (
        "of_an_attribute",
        "y.last = x.clone()\nz = y.last if x.sum() > 0 else x * 2\ny.last += 1\nreturn z",
        2,
        "`y.last` is written to behind it",
    ),
    (
        "written_through_a_list",
        "held = [x]\nz = x if x.sum() > 0 else x * 2\nheld[0].add_(1)\nreturn z",
        2,
        "`held` is",
    ),
    (
        "written_by_an_inner_function",
        "def bump():\n    x.add_(1)\nz = x if x.sum() > 0 else x * 2\nbump()\nreturn z",
        3,
        "`x` is written to behind it",
    ),
    (
        "what_writes_gives_its_argument",
        "z = F.relu(x, inplace=True)\nwhile z.norm() > 3:\n    z = z / 2\nz += 1\nreturn x",
        2,
        "behind",
    ),
    (
        "written_by_an_inner_function_that_is_handed_it",
        "def bump(one):\n    one.add_(1)\nz = x if x.sum() > 0 else x * 2\nbump(x)\nreturn z",
        3,
        "`one` is written to behind it",
    ),
    (
        "written_by_the_default_of_an_inner_function",
        "def bump(one=x):\n    one.add_(1)\nz = x if x.sum() > 0 else x * 2\nbump()\nreturn z",
        3,
        "`one` is written to behind it",
    ),
    (
        "a_list_is_read_in_a_branch",
        "held = [x]\nif x.sum() > 0:\n    x += 1\n    z = held[0].sum()\nelse:\n    z = x.mean()\nreturn z",
        2,
        "share memory with `held`",
    ),
    ("kept_for_a_gradient", "h = x * 2\nz = h * h\nif z.sum() > 30:\n    h += 1\nreturn z.sum()", 3, "as it was"),
    ("a_result_that_is_kept", "h = x.exp()\nif x.sum() > 3:\n    h += 1\nreturn h", 2, "as it was"),
    (
        "kept_in_an_earlier_trip",
        "for k in range(2):\n    if x.sum() > 3:\n        x += 1\n    y = x * x\nreturn y",
        2,
        "as it",
    ),
    ("an_attribute_is_counted", "if x.sum() > 0:\n    y.training += 1\n    x = x * 2\nreturn x", 1, "attribute"),
    ("rows", "total = x.sum()\nfor row in x[x > 0]:\n    total = total + row\nreturn total", 2, "rows"),
]


def observed_and_converted(text: str, calls: list[str], path: Path) -> tuple[str, list[Diagnostic]]:
    observer = Observer()
    code = observed_code(SourceFile.read(text.encode(), str(path)))
    module = module_of(code, f"observed_{path.stem}", **{OBSERVER: observer})
    for expression in calls:
        eval(expression, module.__dict__)
    done = convert_source(text.encode(), str(path), Options(target="torch", seen=observer.sites))
    return done.output.decode(), list(done.diagnostics)


@pytest.mark.parametrize(("name", "body", "line", "message"), CASES, ids=[case[0] for case in CASES])
def test_left_alone(name: str, body: str, line: int, message: str, tmp_path: Path) -> None:
    lines = "".join(f"    {text}\n" for text in body.splitlines())
    text = f"{HEADER}G = torch.full((), 0.5)\nKEPT = []\n\n\ndef f(x, y):\n{lines}"
    calls = [f"f(torch.full((2,), {value}), torch.nn.Module())" for value in (1.0, 4.0, -1.0)]
    output, diagnostics = observed_and_converted(text, calls, tmp_path / f"{name}.py")
    assert output == text
    first = text.count("\n", 0, text.index("def f")) + 1
    told = [(d.line - first, d.message) for d in diagnostics if d.code in ("AG251", "AG252")]
    assert any(at == line and message in said for at, said in told), told


def test_gradients_that_are_on_again_have_their_guards(tmp_path: Path) -> None:
    """A loop without trips hands the gradient on (torch.where), also inside of `no_grad`, where they are turned on."""
    text = HEADER + (
        "def f(x):\n    with torch.no_grad():\n        with torch.enable_grad():\n"
        "            while x.norm() > 3:\n                x = x / 2\n    return x\n"
    )
    output, _ = observed_and_converted(text, ["f(torch.ones(2) * 9)"], tmp_path / "on_again.py")
    assert "x = torch.where(entered, last_x, x)" in output


def test_a_complex_tensor_beside_floats_is_no_integer() -> None:
    text = HEADER + (
        "def f(x: torch.Tensor):\n    z = torch.zeros(2, dtype=torch.cdouble)\n    if x.sum() > 0:\n"
        "        z = z * 2\n        x = x * 2\n    else:\n        z = z * 3\n        x = x * 3\n    return x, z\n"
    )
    output = convert_source(text.encode(), "f.py", Options(target="torch")).output.decode()
    assert "torch.cond" in output and "double()" not in output


def test_a_branch_around_what_is_left_alone_is_left_alone(tmp_path: Path) -> None:
    text = HEADER + (
        "def f(x):\n    if x.sum() > 0:\n        if x.max() > 2:\n            print('large')\n        x = x * 2\n"
        "    if x.sum() < -1:\n        x = -x\n    return x\n"
    )
    calls = [f"f(torch.full((2,), {value}))" for value in (1.0, 4.0, -1.0)]
    output, diagnostics = observed_and_converted(text, calls, tmp_path / "around.py")
    assert "        if x.max() > 2:\n            print('large')\n" in output
    assert "x = torch.cond(x.sum() < -1, lambda x: -x, lambda x: x.clone(), (x,))" in output
    assert sorted(d.line for d in diagnostics if d.code == "AG251") == [6, 7]


def test_what_the_example_does_not_reach_is_told_by_the_text_or_left_alone(tmp_path: Path) -> None:
    text = (
        HEADER
        + "def f(x):\n    if x.sum() > 0:\n        x = helper(x)\n    return x\n\n\ndef helper(x):\n    return x\n"
    )
    output, diagnostics = observed_and_converted(text, ["f(-torch.ones(2))"], tmp_path / "unreached.py")
    assert output == text
    (told,) = (d for d in diagnostics if d.code == "AG252")
    assert "helper(x)" in told.message and "--example" in told.advice


def test_missing_types_are_named(tmp_path: Path) -> None:
    text = HEADER + "def f(x: torch.Tensor):\n    if x.sum() > 0:\n        x = x / 2\n    return x\n"
    done = convert_source(text.encode(), "f.py", Options(target="torch"))
    (told,) = done.diagnostics
    assert (told.code, told.line, done.changed) == ("AG252", 6, False)
    assert "[dtype of x with float]" in told.message


def test_a_file_for_the_runtime_is_left_alone() -> None:
    text = "import torch\nimport autograph_torch.runtime as ag\n\n\ndef f(x: torch.Tensor):\n    y = ag.cond(x.sum() > 0, lambda: x, lambda: -x)\n    return y\n"  # noqa: E501
    assert not convert_source(text.encode(), "f.py", Options(target="torch")).changed
