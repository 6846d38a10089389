"""The flags. Those that pyproject.toml can set have no default here: `settings` knows which were given."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograph_torch import __version__
from autograph_torch.cli.settings import COLOURS, FORMATS, TARGETS

_EXIT_CODES = (
    "exit codes: 0 done or nothing to do, 1 files would change (only with --check), 2 a file failed or bad usage"
)


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; `refuse` ends with a usage message."""
    top = argparse.ArgumentParser(
        prog="autograph-torch", description="Python control flow on tensors becomes one graph."
    )
    top.add_argument("--version", action="version", version=f"autograph-torch {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND", dest="command")
    convert = commands.add_parser("convert", help="rewrite files, or show how they would be", epilog=_EXIT_CODES)
    _convert_arguments(convert)
    explain = commands.add_parser("explain", help="list what depends on tensors, what it would become or why not")
    _explain_arguments(explain)
    rule = commands.add_parser("rule", help="explain a code such as AG103; without one, list all")
    rule.add_argument("code", nargs="?", type=str.upper, metavar="CODE")
    return top


def _convert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(refuse=parser.error)
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="files, directories, or - for stdin (then the result goes to stdout)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("-w", "--write", action="store_true", help="rewrite the files in place")
    mode.add_argument("-o", "--output", type=Path, metavar="DIR", help="write all Python files into DIR instead")
    mode.add_argument("--check", action="store_true", default=argparse.SUPPRESS,
        help="write nothing; exit with 1 if a file would change")  # fmt: skip
    mode.add_argument("--dump-ast", action="store_true", default=argparse.SUPPRESS,
        help="show the syntax tree of the rewritten files")  # fmt: skip
    add("--diff", action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS,
        help="show the diff, also where it is not shown by default")  # fmt: skip
    add("--format", choices=FORMATS, default=argparse.SUPPRESS,
        help="text: the diff with reasons (default); diff: nothing but the diff; the others are for tools")  # fmt: skip
    add("--target", choices=TARGETS, default=argparse.SUPPRESS,
        help="what rewritten code calls: our runtime (default), or torch.cond and torch.while_loop alone")  # fmt: skip
    add("--example", metavar="MODULE:FUNCTION",
        help="with --target torch: RUNS the function, which takes no arguments and calls the code, and uses the types "
        "that it sees")  # fmt: skip
    add("--verify", metavar="MODULE:FUNCTION",
        help="RUNS the function on the original and on the rewritten code of both targets; nothing is written if "
        "results, output, exceptions or changed arguments differ")  # fmt: skip
    add("--html", type=Path, metavar="FILE", help="write a page for review to FILE, instead of the diff to stdout")
    add("--stdin-filename", default="<stdin>", metavar="NAME", help="how messages name the text from stdin")
    _selection(parser)
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument(
        "-q", "--quiet", action="store_true", default=argparse.SUPPRESS, help="no summary and no notes, only errors"
    )
    volume.add_argument(
        "-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help="also what was left alone, and why"
    )


def _explain_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files or directories")
    parser.add_argument("--format", dest="layout", choices=("table", "json"), default="table")
    _selection(parser)


def _selection(parser: argparse.ArgumentParser) -> None:
    """Which files, and how the work on them is done."""
    add = parser.add_argument
    add("--exclude", action="append", default=argparse.SUPPRESS, metavar="GLOB",
        help="leave out files or directories; repeatable")  # fmt: skip
    add("--force-exclude", action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS,
        help="leave them out also where they are named on the command line, as pre-commit does")  # fmt: skip
    add("--do-not-convert", action="append", default=argparse.SUPPRESS, metavar="NAME",
        help="leave a module, class or function alone, by the name it is imported by: package.module.f")  # fmt: skip
    add("-j", "--jobs", type=_positive, default=argparse.SUPPRESS, metavar="N",
        help="processes to use (default: one a core for many files)")  # fmt: skip
    add("--color", choices=COLOURS, default=argparse.SUPPRESS,
        help="colour the output; NO_COLOR turns auto off")  # fmt: skip


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
