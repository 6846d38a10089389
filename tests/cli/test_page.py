"""The page for review: all of it in one file, everything escaped, and alive in a real browser."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from autograph_torch.cli.colours import Colours
from autograph_torch.cli.converting import convert_bytes
from autograph_torch.cli.main import main
from autograph_torch.cli.page import page
from autograph_torch.cli.review import Result
from autograph_torch.diagnostics import Diagnostic
from tests.cli.browser import Browser, executable

EVIL = """</script><img src=x onerror="alert(1)">&amp;"""
FILES = {
    "branch.py": '''\
import torch


def func(x: torch.Tensor) -> torch.Tensor:
    """A text with <b>tags</b>
    over two lines."""
    if x.sum() > 0:
        x = x + 1
        x = x * 2
    return x
''',
    "evil.py": f"""\
import torch

# one
# two
# three
# four
# five
# six


def func(x: torch.Tensor, s='{EVIL}'):
    if x.sum() > 0:  # \u202e turned around
        yield x
    while x.norm() > 1:
        x = x / 2
    return x
""",
    "broken.py": "import torch\ndef f(:\n    return 1 < 2\n",
    "plain.py": "import torch\n",
}


@pytest.fixture
def converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page made of FILES by the command."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_text(content)
    assert main(["convert", *FILES, "--html", "review.html"]) == 2  # broken.py
    return tmp_path / "review.html"


class Reader(HTMLParser):
    """The tags of a page, its attributes, and the text of its cells."""

    VOID = ("meta", "img", "br", "input", "col", "link")

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.cells[-1] += data


def section(file: Path, name: str) -> str:
    """The part of the page about one file."""
    return file.read_text().split(f'<span class="path">{name}</span>')[1].split("</details>")[0]


def plain(text: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", text))


def test_the_command_writes_a_page_instead_of_a_diff(converted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = converted.read_text()
    assert capsys.readouterr().out == ""
    assert "2 files would change, 1 unchanged, 1 failed" in text
    assert re.findall('class="path">([^<]*)<', text) == ["branch.py", "evil.py", "broken.py"]


def test_asking_for_another_format_gives_both(converted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    main(["convert", "branch.py", "--html", "again.html", "--format", "json"])
    assert '"path": "branch.py"' in capsys.readouterr().out
    assert Path("again.html").exists()


def test_a_page_that_cannot_be_written_fails(converted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "branch.py", "--html", "missing/review.html"]) == 2
    assert "missing/review.html: cannot be written: No such file or directory" in capsys.readouterr().err


def test_everything_is_escaped(converted: Path) -> None:
    text = converted.read_text()
    reader = Reader(text)
    assert reader.open == []
    assert reader.tags.count("script") == 1 and "img" not in reader.tags
    assert not [name for name, _ in reader.attributes if name.startswith("on") or name == "style"]
    assert any(EVIL in cell for cell in reader.cells)
    assert "\u202e" not in text and any("202E" in cell for cell in reader.cells)


def test_names_and_messages_are_escaped() -> None:
    found = Diagnostic("AG201", EVIL, 1, 1, 1, f"`{EVIL}` is {EVIL}", EVIL, "x")
    reader = Reader(page([Result(EVIL + "\udcff.py", b"x\n", b"x\n", (found,))], "changed"))
    assert "img" not in reader.tags and reader.tags.count("script") == 1 and reader.open == []


def test_nothing_is_loaded_from_elsewhere(converted: Path) -> None:
    text = converted.read_text()
    names = {name for name, _ in Reader(text).attributes}
    assert not names & {"src", "href", "srcset", "action", "data", "poster", "background"}
    assert not re.search(r"https?:|url\(|@import|\bfetch\b|XMLHttpRequest", text)
    assert "default-src 'none'; style-src 'sha256-" in text


@pytest.mark.parametrize("name", ["branch.py", "evil.py"])
def test_the_left_side_is_the_file(converted: Path, name: str) -> None:
    cells = re.findall(r'data-line="(\d+)"></td><td class="old[^>]*>(.*?)</td>', section(converted, name))
    lines = [line.replace("\u202e", "202E") for line in FILES[name].splitlines()]
    assert len(cells) > 5
    assert all(plain(text) == lines[int(number) - 1] for number, text in cells)


def test_a_line_that_only_moved_stands_beside_itself(converted: Path) -> None:
    rows = [plain(row) for row in section(converted, "branch.py").split("<tr")]
    assert any(row.count("x = x * 2") == 2 for row in rows)


def test_reasons_stand_beside_their_block(converted: Path) -> None:
    blocks = section(converted, "evil.py").split("<article")[1:]
    assert [re.findall("(AG[0-9]+)</code>", block) for block in blocks] == [[], ["AG201"], ["AG103"]]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"\xff\xfe",
        b"# coding: nonsense\nx",
        b"a\rb\r\nc\n",
        b"\0",
        b"\xef\xbb\xbfx = 1\n",
        b'"""\n' * 3,
    ],
)
def test_any_bytes_have_a_page(raw: bytes) -> None:
    failed = Diagnostic("AG301", "f.py", 999, 1, 999, "bad")
    for result in (Result("f.py", raw, raw, (failed,)), Result("f.py", raw, b"x\n" + raw)):
        assert Reader(page([result], "changed")).open == []


def test_a_block_without_a_reason_of_its_own_goes_on_from_the_one_above() -> None:
    body = "".join(f"        y{n} = x\n" for n in range(12))
    raw = f"import torch\n\n\ndef f(x: torch.Tensor):\n    if x.sum() > 0:\n{body}    return x\n"
    raw = raw.replace("    return x", "        x = y1\n    return x")
    text = page([convert_bytes(raw.encode(), "m.py")], "would change")
    assert text.count("goes on from line 5") == 1
    assert "adds the import" not in text  # the first block has the reason


def test_nothing_found() -> None:
    assert "There is nothing to rewrite" in page([Result("f.py", b"x", b"x")], "would change")


def test_colours_split_strings_over_lines() -> None:
    lines = ["def f():", '    """one', '    two"""', "    return 'x' if y else 3  # why"]
    colours = Colours(lines)
    assert colours.line(2) == '<span class="s">    two&quot;&quot;&quot;</span>'
    assert '<span class="k">return</span>' in colours.line(3) and '<span class="c"># why</span>' in colours.line(3)
    assert [plain(Colours(lines).line(number)) for number in range(4)] == lines


# -- in the browser ----------------------------------------------------------------------------------------------------


@pytest.fixture
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if executable() is None:
        pytest.skip("no Chromium here")
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.mark.slow
def test_the_page_in_a_browser(converted: Path, browser: Browser, tmp_path: Path) -> None:
    browser.open(converted)
    ask, press = browser.ask, browser.press
    requests = [
        event["params"]["request"] for event in browser.events if event["method"] == "Network.requestWillBeSent"
    ]
    assert [request["url"] for request in requests] == [converted.as_uri()]
    visible = "[...document.querySelectorAll('.block')].filter(b => b.checkVisibility()).length"
    path = "document.querySelector('.here').closest('details').querySelector('.path').textContent"
    assert ask(visible) == 5 and ask("place.textContent") == "– of 5"
    press("j")
    assert ask("place.textContent") == "1 of 5" and ask(path) == "branch.py"
    press("n")
    assert ask("place.textContent") == "2 of 5" and ask(path) == "evil.py"
    press("j")
    assert ask("document.activeElement === document.querySelector('.here')")
    press("k")
    press("k")
    assert ask("place.textContent") == "1 of 5"
    press("o")
    assert ask(visible) == 4
    press("o")
    press("1")
    assert ask(visible) == 2 and ask("document.querySelector('.filter').getAttribute('aria-pressed')") == "false"
    press("2")
    press("3")
    assert ask(visible) == 0 and ask("document.getElementById('nothing').offsetParent !== null")
    for key in "123":
        press(key)
    press("/")
    for key in "broken":
        press(key)
    assert ask("search.value") == "broken" and ask(visible) == 1
    press("Escape")
    background = "getComputedStyle(document.body).backgroundColor"
    before = ask(background)
    press("t")
    assert ask(background) != before
    press("?")
    assert ask("keys.open")
    assert not [event for event in browser.events if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_old_lines_stand_above_new_ones_where_it_is_narrow(converted: Path, browser: Browser) -> None:
    boxes = """[...document.querySelectorAll("tr.changed")]
      .filter(row => row.querySelector(".old") && row.querySelector(".new"))
      .map(row => [row.querySelector(".old"), row.querySelector(".new")].map(cell => cell.getBoundingClientRect()))
      .map(([old, made]) => [old.left, old.bottom, made.left, made.top].map(Math.round))"""
    for width, stacked in ((1400, False), (420, True)):
        browser.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        browser.open(converted)
        found = browser.ask(boxes)
        assert found
        assert all((old_left == left and bottom <= top) is stacked for old_left, bottom, left, top in found)
        assert browser.ask("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_the_page_follows_the_system(converted: Path, browser: Browser) -> None:
    seen = []
    for scheme in ("light", "dark"):
        browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.open(converted)
        seen.append(browser.ask("getComputedStyle(document.body).backgroundColor"))
    assert seen == ["rgb(246, 247, 249)", "rgb(14, 17, 22)"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(converted: Path, browser: Browser, scheme: str) -> None:
    """Every colour of text has a contrast of at least 4.5 to what it stands on, as WCAG AA asks."""
    browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.open(converted)
    pairs = browser.ask(COLOURS)
    assert len(pairs) > 15
    assert not [pair for pair in pairs if _contrast(pair[0], pair[1]) < 4.5]


COLOURS = """
[...new Set([...document.querySelectorAll("td *, td:not(.void), aside *, summary *, header *, li *")]
  .filter(node => node.offsetParent && node.textContent.trim())
  .map(node => {
    let below = node;
    while (getComputedStyle(below).backgroundColor === "rgba(0, 0, 0, 0)") below = below.parentElement;
    return getComputedStyle(node).color + "|" + getComputedStyle(below).backgroundColor;
  }))].map(pair => pair.split("|"))
"""


def _contrast(first: str, second: str) -> float:
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
