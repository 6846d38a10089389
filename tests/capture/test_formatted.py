"""Texts that `%` makes of numbers of the graph are Python's."""

# ruff: noqa: UP030, UP032 (the ways in which users write it)

from __future__ import annotations

import collections
import contextlib
import dataclasses
import math
import types
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, convert, trace
from autograph_torch.capture import compiling, formatted
from autograph_torch.runtime import effects
from tests.harness import check_any_graph, compiled, program, vec

INTEGERS = ("%d", "%5d", "%-5d|", "%+d", "% d", "%05d", "%-05d|", "%x", "%#06x", "%X", "%o", "%i", "%s", "%6s", "%-6s|")
FLOATS = (
    "%f",
    "%.2f",
    "%8.3f",
    "%-8.3f|",
    "%+.1f",
    "%08.2f",
    "%e",
    "%.3E",
    "%g",
    "%#g",
    "%G",
    "%.0f",
    "%.f",
    "%s",
    "%r",
)


def of_two(x: Tensor) -> tuple[str, str, str]:
    n, v = int(x[0]), x[1].item()
    if x.sum() > 0:
        v = v + 1
    return "{%d} of %d: %-8s|%6.2f%%" % (n, 8, "name", v), "%s" % v, "%.1f" % n  # noqa: UP031


def test_several_at_once() -> None:
    found = compiled(of_two)
    for x in (vec(3, 2.5), vec(-4, -1.25), vec(0, 1e9)):
        assert found(x) == of_two(x)


@pytest.mark.parametrize(
    ("forms", "values"), [(INTEGERS, (0, 7, -12, 123456)), (FLOATS, (0.0, 1.5, -2.25, 1e10, math.nan, -math.inf))]
)
def test_templates(forms: tuple[str, ...], values: tuple[float, ...]) -> None:
    for form in forms:
        for value in values:
            template = formatted._template(form, [type(value)])
            assert template is not None and template.text.format(value) == form % value, (form, value)


def test_what_format_does_otherwise() -> None:
    assert formatted._template("%x", [float]) is None
    assert formatted._template("%*d", [int, int]) is None
    assert formatted._template("%(n)d", [int]) is None
    assert formatted._template("%.3d", [int]) is None
    assert formatted._template("%d %d", [int]) is None
    assert formatted._template("%d", [int, int]) is None
    assert formatted._template("%d", [None]) is None
    assert formatted._template("100%", []) is None


def of_tensors(x: Tensor) -> Any:
    v = x[0].item()
    return "%d|%5d|%i" % (v, x[1], x[2]), "%07.2f|%e" % (x[0], x[1]), "%.1f" % x[2]  # noqa: UP031


def of_strings(x: Tensor) -> Any:
    n, v = int(x[0]), x[1].item()
    label = str(n) + "%" + repr(v)
    return label, label + label, ", ".join(map(str, [n, v])), "-".join([f"{n:>4}", "a", "{0}{0}".format(n)]), str(n)


def converted_first(x: Tensor) -> Any:
    n = int(x[0])
    return f"{n:4}|", f"{n!r:4}|", f"{n!s:>4}|", f"{n!a}"


@pytest.mark.parametrize("function", [of_tensors, of_strings, converted_first])
def test_texts_are_pythons(function: Any) -> None:
    found = compiled(function)
    for x in (vec(3, 2.5, 1), vec(-4.5, -1.25, 0), vec(0, 1e9, 7)):
        assert found(x) == function(x)


def test_what_python_raises() -> None:
    def whole(x: Tensor) -> str:
        return "%d" % x.item()  # noqa: UP031

    found = compiled(whole)
    assert found(torch.tensor(2.5)) == "2"
    for value, error in ((math.nan, ValueError), (math.inf, OverflowError)):
        with pytest.raises(error, match="cannot convert float"):
            found(torch.tensor(value))


def test_the_length_of_a_text_is_not_taken_for_an_exception() -> None:
    with pytest.raises(CaptureError, match="AG321 the length of a text"):
        trace(lambda x: len(f"{x[0].item()}"), vec(1, 2))


@dataclasses.dataclass
class Config:
    kind: str = "relu"
    tags: list[str] = dataclasses.field(default_factory=list)


class Meter:
    def __init__(self) -> None:
        self.n: float = 0

    def __repr__(self) -> str:
        return f"Meter({self.n})"


class Clock:
    hours = 1

    def __format__(self, spec: str) -> str:
        return f"{self.hours}h:{spec}"


def of_objects(x: Tensor, config: Config) -> Any:
    meter, clock = Meter(), Clock()
    config.tags.append("seen")
    meter.n, clock.hours = x[0].item(), int(x[1])
    shown = (
        str(config),
        repr(config),
        f"{config}",
        f"{config!r:>60}",
        str(meter),
        "{1}, {0!r:>12}".format(meter, config),
    )
    return shown, f"{clock:min}", format(clock, "s"), format(x[0].item(), ".2f"), format(int(x[1]), "05d")


def test_texts_of_objects_are_of_the_moment() -> None:
    found = compiled(of_objects)
    for x, kind in ((vec(3, 2), "a"), (vec(-4.5, 1), "a"), (vec(0, 9), "b")):
        assert found(x, Config(kind)) == of_objects(x, Config(kind))


class Named(dict[str, int]):
    pass


class Shown(torch.nn.Module):
    n = 0

    def extra_repr(self) -> str:
        return f"n={self.n}"


class Told(Shown):
    def __repr__(self) -> str:
        return f"Told({self.n})"


def of_a_dict(x: Tensor, one: Any) -> str:
    one["late"] = 1
    return f"{one}"


def of_a_module(x: Tensor, one: Any) -> str:
    one.n += 3
    return str(one)


def of_what_is_given(x: Tensor, one: Any) -> str:
    return f"{one}"


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (of_a_dict, Named),
        (of_a_dict, lambda: collections.defaultdict(int)),
        (of_a_module, Shown),
        (of_a_module, Told),
        (of_what_is_given, lambda: types.SimpleNamespace(a=1)),
        (of_what_is_given, lambda: torch.nn.Linear(2, 2)),
    ],
)
def test_texts_that_are_made_in_c_are_eagers_or_refused(function: Any, make: Any) -> None:
    try:
        found = compiled(function)(vec(1), make())
    except CaptureError as error:
        assert make not in (Told,) and error.diagnostic.code == "AG320" and "the text of a" in error.diagnostic.message
    else:
        assert found == function(vec(1), make())


def test_objects_in_ascii_are_refused() -> None:
    with pytest.raises(CaptureError, match="AG320 the text of an object in ASCII"):
        compiled(lambda x, one: f"{one!a}")(vec(1), Config())


def test_what_an_object_does_not_format() -> None:
    def aligned(x: Tensor, config: Config) -> str:
        return f"{config:>9}"

    for function in (aligned, compiled(aligned)):
        with pytest.raises(TypeError, match="unsupported format string passed to Config.__format__"):
            function(vec(1), Config())


def test_a_list_that_shows_objects_is_refused() -> None:
    def shown(x: Tensor, config: Config) -> str:
        config.tags.append("late")
        return f"{[config]}"

    with pytest.raises(CaptureError, match="AG320 the text of a list or dict that has objects in it"):
        compiled(shown)(vec(1), Config())


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(repair for repair in compiling._REPAIRS if repair is not formatted.texts_of_numbers)
    monkeypatch.setattr(compiling, "_REPAIRS", others)
    with pytest.raises(CaptureError):
        compiled(of_two)(vec(1, 2))


def shown(x: torch.Tensor, n: float) -> Any:
    double = n * 2
    return x + n, f"{n:.3f}", f"{n:5}|", f"a{n}", f"{n!r:>6}", f"{double:6}|{double // 1:4}", str(n), f"{n:{6}.{2}f}"


@pytest.mark.parametrize("numbers", [(3, 4, 5), (3.5, 4.5, 5.25)], ids=["int", "float"])
def test_texts_of_arguments_that_change(numbers: tuple[float, ...]) -> None:
    torch._dynamo.reset()
    plain = torch.compile(shown, backend="eager", fullgraph=True)
    found = torch.compile(convert(shown), backend="eager", fullgraph=True)
    right = []
    for n in numbers:
        expected = shown(torch.ones(1), n)[1:]
        assert found(torch.ones(1), n)[1:] == expected
        with contextlib.suppress(torch._dynamo.exc.TorchDynamoException):
            right.append(plain(torch.ones(1), n)[1:] == expected)
    assert right != [True] * len(numbers)  # torch does without


def test_other_traces_are_torchs() -> None:
    """What this package refuses in converted functions is torch's in all others."""

    def plain(x: Tensor, one: Any) -> tuple[Tensor, str]:
        return x + 1, f"{one}"

    compiled(of_objects)(vec(3, 2), Config())
    found = torch.compile(plain, backend="eager", fullgraph=True)(vec(1), Shown())
    assert found[1] == "Shown(n=0)"


def written_behind_the_text(x: Tensor) -> Any:
    """The text is that of the moment, whatever becomes of what is in it."""
    found = [x[0].item()]
    texts = [f"{x[0]:.2f}|{x[1]}", "{:.1f} {}".format(x[0], x[1]), format(x[1], ".1f")]
    texts += [f"{x}", f"{[x[0]]} {(x[1], 2)}", f"{ {'a': x[0]} }", f"{found}", ", ".join(f"{v}" for v in x)]
    found.append(2.5)
    if x.sum() > 0:
        x += 1
        texts.append(f"raised to {x[0]:.1f}")
    x *= 2
    return texts, found, x


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_what_is_written_behind_the_text(backend: str) -> None:
    found = torch.compile(convert(written_behind_the_text), backend=backend, fullgraph=True)
    for numbers in ((1, 2), (-1, -2)):
        expected, given = written_behind_the_text(vec(*numbers)), found(vec(*numbers))
        assert given[:2] == expected[:2] and given[2].equal(expected[2])


def test_the_text_of_a_tensor_that_records_its_gradient_is_refused() -> None:
    """It has the name of an operator in it, and that of the graph is another."""

    def shows(x: Tensor) -> tuple[Tensor, str]:
        y = x * 2 if x.sum() > 0 else x
        return y, f"{y}"

    with pytest.raises(CaptureError, match="AG320 the text of a tensor that records its gradient"):
        compiled(shows)(vec(1, 2).requires_grad_())
    assert compiled(shows)(vec(1, 2))[1] == shows(vec(1, 2))[1]


def test_texts_that_are_kept_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def reports(x: Tensor) -> list[str]:
        lines = []
        for k in range(2):
            lines.append(f"{k}: {x[k]:>6.2f} {x[k].item():.1f}")
            print(lines[-1], len(lines))
        if x.sum() > 0:
            print(lines[0], [lines[1]], sep="|")
        x += 1
        print("all:", *lines)
        return lines

    for numbers in ((1, 2), (-1, -2)):
        texts = []
        for call in (reports, compiled(reports)):
            texts.append((call(vec(*numbers)), capsys.readouterr().out))
        assert texts[1] == texts[0]


def test_the_text_of_what_may_change_and_is_not_copied_is_refused() -> None:
    def of_a_deque(x: Tensor) -> str:
        queue = collections.deque([x[0].item()])
        text = f"{queue}"
        queue.append(1.0)
        return text

    with pytest.raises(CaptureError, match="AG320"):
        compiled(of_a_deque)(vec(1, 2))


def test_the_text_of_a_named_tuple_is_of_what_is_in_it_then() -> None:
    def shows(x: Tensor) -> str:
        pair = Pair([x[0].item()], 1)
        text = f"{pair}"
        pair.first.append(2.0)
        return text

    assert compiled(shows)(vec(1, 2)) == shows(vec(1, 2)) == "Pair(first=[1.0], second=1)"


class Pair(NamedTuple):
    first: list[float]
    second: int


LINES: list[Any] = []


class Journal:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, v: Tensor) -> None:
        lines = self.lines
        lines.append(f"value {v.item():.1f}")


JOURNAL = Journal()


def noted(v: Tensor) -> None:
    LINES.append(f"value {v.item():.1f}")


def remade(v: Tensor) -> None:
    global LINES
    LINES = []
    LINES.append(f"value {v.item():.1f}")


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize("note", [noted, remade, JOURNAL.note], ids=["global", "bound anew", "attribute"])
def test_texts_in_a_list_that_others_see(note: Any) -> None:
    def run(x: Tensor) -> Tensor:
        if x.sum() > 0:
            note(x[0])
        return x + len(LINES)

    def outcome(way: Any) -> Any:
        LINES.clear()
        JOURNAL.lines.clear()
        step = way(run)
        return repr([step(vec(1, 2)), step(vec(-1, -2)), step(vec(3, 4)), LINES, JOURNAL.lines])

    assert outcome(lambda one: one) == outcome(compiled)


def kept_by_hand(x: Tensor) -> Tensor:
    LINES.append(effects.text("value {:.1f}", x[0].item()))
    return x + 1


def test_a_text_for_effects_is_not_kept() -> None:
    with pytest.raises(CaptureError, match="a text or list with values of the graph is kept"):
        compiled(kept_by_hand)(vec(1, 2))


class OwnLogger:
    """What its calls look like, it is not: it keeps what it is given."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def info(self, row: Any) -> None:
        self.rows.append(row)


def text_of_data(logger: OwnLogger, x: Tensor) -> None:
    logger.info(f"{x.sum().item():.1f}")


def list_of_data(logger: OwnLogger, x: Tensor) -> None:
    logger.info(x[x > 0].tolist())


def both_in_containers(logger: OwnLogger, x: Tensor) -> None:
    logger.info([f"{x.sum().item():.1f}", ("a", {"kept": x[x > 0].tolist()})])


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize("note", [text_of_data, list_of_data, both_in_containers], ids=lambda one: one.__name__)
def test_what_looks_like_a_logger_and_is_none(note: Any) -> None:
    def outcome(way: Any) -> Any:
        logger = OwnLogger()

        def run(x: Tensor) -> Tensor:
            note(logger, x)
            return x + 1

        step = way(run)
        return repr([*(step(vec(*row)) for row in ((1, 2), (-1, -2), (3, -2))), logger.rows])

    assert outcome(lambda one: one) == outcome(compiled)


LOOKED_UP: Any = [
    lambda d, key: d.get(key),
    lambda d, key: key in d,
    lambda d, key: key not in ["0", "1"],
    lambda d, key: d.pop(key),
    lambda d, key: d.setdefault(key, 9),
    lambda d, key: len({key, "0"}),
    lambda d, key: {key} <= {"1"},
    lambda d, key: {(key, 1): 2}.get(("1", 1)),
]


@pytest.mark.parametrize("look", LOOKED_UP, ids=[f"look {k}" for k in range(len(LOOKED_UP))])
def test_texts_as_keys(look: Any) -> None:
    @program(inputs=[lambda: (vec(1, 2),), lambda: (vec(2, 1),)])
    def found(x: Tensor) -> Any:
        names = {"0": 5, "1": 6}
        key = str(x.argmax().item())
        return look(names, key), names

    check_any_graph(found)
