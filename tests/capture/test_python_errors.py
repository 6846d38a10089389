"""What Python's own operations raise is raised in the trace as in eager, with Python's type and text."""

from __future__ import annotations

import collections
import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import AutographError
from autograph_torch.capture import python_errors
from tests.harness import agreement, compiled, leave_out, program, vec

OPERATIONS = """
max([]); min(()); max(v for v in []); min(iter([])); max(x[:0]); max([], key=abs); max([1, "a"]); max(5)
next(iter([])); next([]); int("x"); int(None); float("x"); chr(-1); ord("ab"); len(5); range(1, 5, 0)
range(1.5); range("a"); enumerate(5); zip(5); sum(["a"]); sum(5); sorted([1, "a"]); sorted(5); reversed(5); round("a")
iter(None); list(5); divmod(1, 0); isinstance(1, 5); abs("a"); bytes([300])
[].pop(); [1].pop(5); {}.popitem(); {}.pop("a"); set().pop(); {1}.remove(2); [1].index(2); (1,).index(2); [1].remove(2)
"abc".index("z"); ",".join([1]); "{}".format(); "{a}".format(b=1); "a".split(""); [].insert("a", 1); {1: 2}.update([3])
"abc".encode("nope"); collections.deque().pop(); collections.deque().popleft(); [x].index(5, 4); (x, 1).index(2, 1)
{}["k"]; {1: 2}[3]; [1][4]; (1,)[4]; (x, x)[4]; "abc"[7]; [1]["a"]; {}[[]]
"abc" + 1; 1 + "abc"; [1] + (1,); (1,) + [1]; 1 + None; [x] + (x,); [1] * 1.5; -"a"; 1 < "a"; None > 0; 1 / 0; 2 << -1
"%d" % "a"; "%d %d" % (1,); f"{'a':d}"; f"{1.5:d}"; None.foo; [1].foo; {}.foo(); None(); 5(); "abc"()
unpack([1]); unpack([1, 2, 3]); unpack((x, x, x)); unpack(5); unpack(None); unpack_more([]); walk(5); enter(5); throw(5)
put((1, 2), 0, 5); put("abc", 0, 5); put((x, 1), 0, x); put([1], 4, x); put([1], "a", 5); put({}, [], 5)
take((1, 2), 0); take([1], 3); take({}, "a"); take("abc", 0); put(None, 0, 5); find(1, 5); find(1, "abc"); mark(5)
mark((1,)); (x * 2).foo; x.foo; itertools.islice(x, -1); itertools.islice([1], 0, 1, 0)
"""
LINES = OPERATIONS.strip().split("\n")
HELPERS = {"collections": collections, "itertools": itertools}
exec(
    """
def unpack(v): a, b = v
def unpack_more(v): a, *b = v
def walk(v):
    for a in v: return a
def enter(v):
    with v: return 1
def throw(v): raise v
def put(v, k, e): v[k] = e
def take(v, k): del v[k]
def find(a, v): return a in v
def mark(v): v.a = 1
""",
    HELPERS,
)
CAUGHT = """
def function(x):
    n, text = 0, ""
    try:
        n = 1
        {}
        n = 2
    except Exception as error:
        text = type(error).__name__ + ": " + str(error)
    return (x if x.sum() > 0 else -x), n, text
"""
IN_A_BRANCH = """
def function(x):
    y, n = x, 0
    if x.sum() > 0:
        try:
            n = 1
            {}
        except Exception:
            n, y = n + 10, y * 2
        y = y + 1
    return y, n
"""
UNCAUGHT = """
def function(x):
    if x.sum() > 0:
        {}
    else:
        x = x - 1
    return x
"""


def _said(call: Any, x: Tensor) -> str:
    try:
        return repr(call(x))
    except AutographError as error:
        return f"refused: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("form", [CAUGHT, IN_A_BRANCH, UNCAUGHT], ids=["caught", "in a branch", "uncaught"])
@pytest.mark.parametrize("line", LINES, ids=[f"line {number}" for number in range(len(LINES))])
def test_as_python(form: str, line: str, made_function: Any) -> None:
    different = []
    for operation in line.split("; "):
        function = made_function(form.format(operation), HELPERS)
        run = compiled(function)
        for x in (vec(1, 2), vec(-1, -2)):
            expected, found = _said(function, x), _said(run, x)
            if found != expected:
                different.append(f"{operation}: {expected} / {found}")
    assert different == []


@pytest.fixture
def made_function(tmp_path: Any) -> Any:
    counter = itertools.count()

    def make(text: str, names: dict[str, Any]) -> Any:
        path = tmp_path / f"made_{next(counter)}.py"
        path.write_text(text)
        found = dict(names)
        exec(compile(text, str(path), "exec"), found)
        return found["function"]

    return make


class Keeper:
    def __init__(self) -> None:
        self.bundle: Any = ([], {}, torch.zeros(2))
        self.failures = 0


@program(inputs=[lambda: (Keeper(), vec(1, 2)), lambda: (Keeper(), vec(-1, 2)), lambda: (Keeper(), vec(-1, -2))])
def items_of_tuples(w: Any, x: Tensor) -> Any:
    try:
        w.bundle[0] += [x * 2, x.sum()]  # the list has grown when the tuple refuses it
    except TypeError:
        w.failures += 1
    if x.sum() > 0:
        try:
            w.bundle[2] += x
        except TypeError:
            w.failures += 10
    return len(w.bundle[0]), w.failures, w.bundle[2], w.bundle[0]


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def of_the_program(x: Tensor) -> Any:
    def key(value: int) -> int:
        raise IndexError(f"of {value}")

    try:
        found: Any = max([3, 4], key=key)
    except (IndexError, ValueError) as error:
        found = repr(error)
    return (x if x.sum() > 0 else -x), found


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def of_several_elements(x: Tensor) -> Any:
    texts = []
    for number in (int, float):
        try:
            texts.append(number(x))
        except Exception as error:
            texts.append(f"{type(error).__name__}: {error}")
    return (x if x.sum() > 0 else -x), texts


@pytest.mark.parametrize(
    "subject", [items_of_tuples, of_the_program, of_several_elements], ids=lambda found: found.__name__
)
@pytest.mark.parametrize("way", ["any graph", "one path"])
def test_as_eager(subject: Any, way: Any) -> None:
    verdict = agreement(subject.__program__, way)
    assert verdict.kind == "equal", verdict.reason


def _largest(x: Tensor) -> Any:
    try:
        return max([])
    except ValueError:
        return x if x.sum() > 0 else -x


def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, python_errors.python_errors)
    with pytest.raises(AutographError, match="_call_min_max_seq"):
        compiled(_largest)(torch.ones(1))


def test_a_parameter_that_the_function_makes_has_no_other_attribute() -> None:
    def made(x: Tensor) -> Any:
        weight = torch.nn.Parameter(x * 2)
        text = ""
        try:
            weight.scale  # noqa: B018
        except AttributeError as error:
            text = str(error)
        return text, x if x.sum() > 0 else -x

    assert repr(compiled(made)(vec(1, 2))) == repr(made(vec(1, 2)))
