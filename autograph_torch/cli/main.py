"""`autograph-torch`: reads the arguments, converts each file, shows or writes what came of it, and sets the exit code.

torch is never imported, and what a plain run does not need (rich, process pools) is imported where it is used.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from autograph_torch import __version__
from autograph_torch.cli import collector, files, review
from autograph_torch.cli.review import Line, Result
from autograph_torch.diagnostics import RULES, AutographError, Diagnostic, Rule

DONE, WOULD_CHANGE, FAILED = 0, 1, 2
FEW_FILES = 32  # up to here a second process costs more than it saves
EXIT_CODES = (
    "exit codes: 0 done or nothing to do, 1 files would change (only with --check), 2 a file failed or bad usage"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autograph-torch", description="Python control flow on tensors becomes one graph."
    )
    parser.add_argument("--version", action="version", version=f"autograph-torch {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    convert = commands.add_parser("convert", help="rewrite files, or show how they would be", epilog=EXIT_CODES)
    _convert_arguments(convert)
    rule = commands.add_parser("rule", help="explain a code such as AG103; without one, list all")
    rule.add_argument("code", nargs="?", type=str.upper, metavar="CODE")
    rule.set_defaults(command=_rule)
    return parser


def _convert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=functools.partial(_convert, refuse=parser.error))
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="files, directories, or - for stdin (then the result goes to stdout)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("-w", "--write", action="store_true", help="rewrite the files in place")
    mode.add_argument("-o", "--output", type=Path, metavar="DIR", help="write all Python files into DIR instead")
    mode.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file would change")
    mode.add_argument("--dump-ast", action="store_true", help="show the syntax tree of the rewritten files")
    add("--diff", action="store_true", help="show the diff, also where it is not shown by default")
    add("--format", choices=("text", "diff", "json", "github"), default="text",
        help="text: the diff with reasons (default); diff: nothing but the diff")  # fmt: skip
    add("--html", type=Path, metavar="FILE", help="write a page for review to FILE, instead of the diff to stdout")
    add("--stdin-filename", default="<stdin>", metavar="NAME", help="how messages name the text from stdin")
    add("--exclude", action="append", default=[], metavar="GLOB", help="leave out files or directories; repeatable")
    add("-j", "--jobs", type=_positive, metavar="N", help="processes to use (default: one a core for many files)")
    add("--color", choices=("auto", "always", "never"), default="auto", help="colour the diff; NO_COLOR turns auto off")
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="no summary and no notes, only errors")
    volume.add_argument("-v", "--verbose", action="store_true", help="show also what was left alone, and why")


def _convert(options: argparse.Namespace, refuse: Callable[[str], NoReturn]) -> int:
    if "-" in options.paths:
        if options.paths != ["-"] or options.write or options.output:
            refuse("- stands alone, and its result goes to stdout: no other paths, no --write, no --output")
        return _convert_stdin(options)
    if options.output and os.path.abspath(options.output) == str(files.common_base(options.paths)):
        refuse("--output would overwrite what it reads; --write does that in place")
    found = files.find(options.paths, options.exclude, options.output)
    for path in found.missing:
        _complain(f"{path}: no such file or directory")
    if not options.quiet:
        for note in found.notes:
            _complain(note)
    targets = list(found.targets) if options.output else files.without_links_to_others(found.targets)
    results = [_finished(result, target, options) for target, result in _converted(targets, options.jobs)]
    _conclude(results, options)
    return _exit_code(results, options) if _page_written(results, options) and not found.missing else FAILED


def _convert_stdin(options: argparse.Namespace) -> int:
    """A filter: the converted text, unless a diff, a report or a tree was asked for."""
    result = _convert_bytes(sys.stdin.buffer.read(), options.stdin_filename)
    if options.diff or options.check or options.dump_ast or options.format != "text":
        _show(result, options)
    elif not result.errors:
        review.show([Line(" ", result.output)], colour=False)
    _show_errors(result, options)
    _conclude([result], options)
    return _exit_code([result], options) if _page_written([result], options) else FAILED


def _converted(targets: Sequence[files.Target], jobs: int | None) -> Iterator[tuple[files.Target, Result]]:
    """Each target with its result, in order."""
    if jobs is None:
        jobs = (os.cpu_count() or 1) if len(targets) > FEW_FILES else 1
    if jobs == 1 or len(targets) < 2:
        yield from zip(targets, map(_convert_file, targets), strict=True)
        return
    from concurrent.futures import ProcessPoolExecutor

    import autograph_torch.pipeline  # noqa: F401  before the processes fork, so that each has it already

    with ProcessPoolExecutor(jobs) as pool:
        yield from zip(targets, pool.map(_convert_file, targets, chunksize=4), strict=True)


def _convert_file(target: files.Target) -> Result:
    try:
        raw = target.path.read_bytes()
    except OSError as error:
        return Result(target.shown, b"", b"", (_failure(target.shown, "AG301", f"cannot be read: {error.strerror}"),))
    return _convert_bytes(raw, target.shown)


def _convert_bytes(raw: bytes, shown: str) -> Result:
    """Convert one file's bytes; whatever goes wrong becomes an error in the result, so that the other files go on."""
    if b"torch" not in raw and b"autograph" not in raw:
        return Result(shown, raw, raw)
    from autograph_torch.pipeline import Options, convert_source

    try:
        with collector.paused():
            converted = convert_source(raw, shown, Options())
    except AutographError as error:
        return Result(shown, raw, raw, (error.diagnostic,))
    except Exception as error:
        message = f"internal error, please report it: {type(error).__name__}: {error}"
        return Result(shown, raw, raw, (_failure(shown, "AG390", message),))
    return Result(shown, raw, converted.output, converted.diagnostics)


def _finished(result: Result, target: files.Target, options: argparse.Namespace) -> Result:
    """Write and show one result, and give it back, with an error added when it could not be written."""
    try:
        if options.write and result.changed:
            files.write(target.path, result.output, model=target.path)
        elif options.output and not result.errors:
            base = files.common_base(options.paths)
            files.write(files.mirrored(target.path, base, options.output), result.output, model=target.path)
    except OSError as error:
        failure = _failure(target.shown, "AG301", f"cannot be written: {error.strerror}")
        result = Result(result.shown, result.raw, result.raw, (*result.diagnostics, failure))
    _show(result, options)
    _show_errors(result, options)
    return result


def _show(result: Result, options: argparse.Namespace) -> None:
    """One file's part of stdout, in every format that does not wait for the last file."""
    review.show(_lines(result, options), _wants_colour(options.color))


def _lines(result: Result, options: argparse.Namespace) -> Iterable[Line]:
    preview = not (options.write or options.output or options.check or (options.html and options.format == "text"))
    if options.dump_ast:
        return review.syntax_tree(result)
    if options.format == "github":
        return review.github(result, options.verbose)
    if options.format == "diff":
        return review.patch(result) if preview or options.diff else ()
    if options.format == "json" or (options.quiet and not preview and not options.diff):
        return ()
    if preview or options.diff or options.check or options.verbose:
        return review.text(result, preview or options.diff, options.verbose)
    return ()


def _show_errors(result: Result, options: argparse.Namespace) -> None:
    if options.format != "github":
        for diagnostic in result.errors:
            _complain(diagnostic.render())


def _conclude(results: Sequence[Result], options: argparse.Namespace) -> None:
    """What can be said only at the end: the JSON report and the summary."""
    if options.format == "json" and not options.dump_ast:
        review.show([review.report(results)], colour=False)
    if options.quiet:
        return
    if not results:
        _complain("no Python files found")
        return
    text = review.summary(results, _verb(options))
    hint = "; -v shows what was left alone" if not options.verbose and any(r.left_alone for r in results) else ""
    _complain(text + hint)


def _page_written(results: Sequence[Result], options: argparse.Namespace) -> bool:
    """Write the page for review, if there is to be one; False when that fails."""
    if options.html is None:
        return True
    from autograph_torch.cli.page import page

    try:
        options.html.write_text(page(results, _verb(options)), "utf-8")
    except OSError as error:
        _complain(f"{options.html}: cannot be written: {error.strerror}")
        return False
    return True


def _verb(options: argparse.Namespace) -> str:
    return "changed" if options.write or options.output else "would change"


def _exit_code(results: Sequence[Result], options: argparse.Namespace) -> int:
    if any(result.errors for result in results):
        return FAILED
    return WOULD_CHANGE if options.check and any(result.changed for result in results) else DONE


def _rule(options: argparse.Namespace) -> int:
    if options.code is None:
        print("\n".join(f"{rule.code}  {rule.title}" for rule in RULES.values()))
        return DONE
    if options.code not in RULES:
        _complain(f"{options.code}: no such code; `autograph-torch rule` lists them all")
        return FAILED
    print(_explained(RULES[options.code]))
    return DONE


def _explained(rule: Rule) -> str:
    parts = [f"{rule.code}: {rule.title}", rule.explanation]
    for heading, example in (("Before:", rule.before), ("After:", rule.after)):
        if example:
            parts.append("\n".join([heading, *(f"    {line}" for line in example.splitlines())]))
    return "\n\n".join(parts)


def _failure(shown: str, code: str, message: str) -> Diagnostic:
    """An error about a whole file."""
    return Diagnostic(code, shown, 1, 1, 1, message)


def _complain(message: str) -> None:
    print(message, file=sys.stderr)


def _wants_colour(choice: str) -> bool:
    if choice == "auto":
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return choice == "always"


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
