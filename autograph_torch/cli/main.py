"""`autograph-torch`: converts each file, shows or writes what came of it, and sets the exit code.

torch is never imported, and what a plain run does not need (rich, process pools) is imported where it is used.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograph_torch.cli import arguments, converting, files, progress, reports, review, running, settings
from autograph_torch.cli.review import Line, Result
from autograph_torch.diagnostics import RULES, AutographError, Diagnostic, Rule

DONE, WOULD_CHANGE, FAILED = 0, 1, 2


def main(given: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    options = arguments.parser().parse_args(given)
    try:
        return _run(options)
    except settings.SettingsError as error:
        _complain(error.diagnostic.render())
        return FAILED
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return 130


def _run(options: argparse.Namespace) -> int:
    if options.command == "rule":
        return _rule(options)
    first = options.stdin_filename if options.paths == ["-"] else options.paths[0]
    table = settings.nearest(Path(first))
    options = argparse.Namespace(**settings.merged(vars(options), table))
    exclusion = files.Exclusion(tuple(options.exclude), options.force_exclude, table.base)
    if options.command == "explain":
        return _explain(options, exclusion)
    return _convert(options, exclusion)


def _convert(options: argparse.Namespace, exclusion: files.Exclusion) -> int:
    if "-" in options.paths:
        if options.paths != ["-"] or options.write or options.output:
            options.refuse("- stands alone, and its result goes to stdout: no other paths, no --write, no --output")
        if options.example or options.verify:
            options.refuse("--example and --verify import what they run: it must be a file")
        return _convert_stdin(options, exclusion)
    if options.output and os.path.abspath(options.output) == str(files.common_base(options.paths)):
        options.refuse("--output would overwrite what it reads; --write does that in place")
    found = files.find(options.paths, exclusion, options.output)
    results = _not_found(found, options)
    targets = list(found.targets) if options.output else files.without_links_to_others(found.targets)
    bar = not options.quiet and not (sys.stdout.isatty() and _is_shown_at_once(options))
    try:
        wanted = running.wanted(options, [target.path for target in targets])
        agreed = running.verified(options.verify, [target.path for target in targets], wanted)
    except AutographError as error:
        _complain(error.diagnostic.render())
        return FAILED
    if agreed:
        _complain(agreed)
    done = converting.convert_files(targets, options.jobs, wanted)
    for target, result in zip(targets, progress.tracked(done, len(targets), bar), strict=True):
        results.append(_finished(result, target, options))
    return _concluded(results, options)


def _not_found(found: files.Found, options: argparse.Namespace) -> list[Result]:
    """Notes about the search, and its failures as results."""
    if not options.quiet:
        for note in found.notes:
            _complain(note)
    results = [_failed(failure) for failure in found.failures]
    for result in results:
        _show(result, options)
        _show_errors(result, options)
    return results


def _failed(failure: Diagnostic) -> Result:
    return Result(failure.filename, b"", b"", (failure,))


def _explain(options: argparse.Namespace, exclusion: files.Exclusion) -> int:
    """Every place that depends on tensors, and what it would become."""
    from autograph_torch.cli import explain

    found = files.find(options.paths, exclusion)
    for note in found.notes:
        _complain(note)
    targets = files.without_links_to_others(found.targets)
    results = [_failed(failure) for failure in found.failures]
    wanted = running.Wanted(do_not_convert=tuple(options.do_not_convert))
    results += progress.tracked(converting.convert_files(targets, options.jobs, wanted), len(targets))
    for result in results:
        for diagnostic in result.errors:
            _complain(diagnostic.render())
    explain.show(results, options.layout, _wants_colour(options.color))
    return FAILED if any(result.errors for result in results) else DONE


def _convert_stdin(options: argparse.Namespace, exclusion: files.Exclusion) -> int:
    """A filter: the converted text, unless a diff, a report or a tree was asked for."""
    raw = sys.stdin.buffer.read()
    if exclusion.forced and exclusion.covers(Path(options.stdin_filename)):
        result = Result(options.stdin_filename, raw, raw)
    else:
        result = converting.convert_bytes(raw, options.stdin_filename, running.wanted(options, []))
    if options.diff or options.check or options.dump_ast or options.format != "text":
        _show(result, options)
    elif not result.errors:
        review.show([Line(" ", result.output)], colour=False)
    _show_errors(result, options)
    return _concluded([result], options)


def _finished(result: Result, target: files.Target, options: argparse.Namespace) -> Result:
    """Write and show one result, and give it back, with an error added when it could not be written."""
    from autograph_torch.cli.writing import write

    try:
        if options.write and result.changed:
            write(target.path, result.output, model=target.path)
        elif options.output and not result.errors:
            base = files.common_base(options.paths)
            write(files.mirrored(target.path, base, options.output), result.output, model=target.path)
    except OSError as error:
        failure = files.failure(target.shown, f"cannot be written: {error.strerror}")
        result = Result(result.shown, result.raw, result.raw, (*result.diagnostics, failure))
    _show(result, options)
    _show_errors(result, options)
    return result


def _show(result: Result, options: argparse.Namespace) -> None:
    """One file's part of stdout, in every format that does not wait for the last file."""
    review.show(_lines(result, options), _wants_colour(options.color))


def _lines(result: Result, options: argparse.Namespace) -> Iterable[Line]:
    preview = not (_shows_elsewhere(options) or options.check)
    if options.dump_ast:
        return review.syntax_tree(result)
    if options.format == "github":
        return reports.github(result, options.verbose)
    if options.format == "diff":
        return review.patch(result) if preview or options.diff else ()
    if options.format in ("json", "sarif") or (options.quiet and not preview and not options.diff):
        return ()
    if preview or options.diff or options.check or options.verbose:
        return review.text(result, preview or options.diff, options.verbose)
    return ()


def _show_errors(result: Result, options: argparse.Namespace) -> None:
    if options.format != "github":
        for diagnostic in result.errors:
            _complain(diagnostic.render())


def _is_shown_at_once(options: argparse.Namespace) -> bool:
    """Whether stdout gets something for each file, so that a bar would be in the way."""
    return not (options.format in ("json", "sarif") or _shows_elsewhere(options)) or options.diff


def _shows_elsewhere(options: argparse.Namespace) -> bool:
    """Whether what came of the files is to be seen in files, and the diff not wanted."""
    return bool(options.write or options.output or (options.html and options.format == "text"))


def _concluded(results: Sequence[Result], options: argparse.Namespace) -> int:
    """What can be said only at the end, reports for tools and the summary; gives the exit code."""
    code = _exit_code(results, options) if _page_written(results, options) else FAILED
    if options.format == "json" and not options.dump_ast:
        review.show([reports.report(results)], colour=False)
    elif options.format == "sarif" and not options.dump_ast:
        from autograph_torch.cli import sarif

        review.show([sarif.log(results, options.verbose, code)], colour=False)
    if options.quiet:
        return code
    if not results:
        _complain("no Python files found")
        return code
    text = review.summary(results, _verb(options))
    hint = "; -v shows what was left alone" if not options.verbose and any(r.left_alone for r in results) else ""
    _complain(text + hint)
    return code


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


def _complain(message: str) -> None:
    print(review.printable(message), file=sys.stderr)


def _wants_colour(choice: str) -> bool:
    if choice == "auto":
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return choice == "always"
