"""`python -m autograph_torch.trial.child JOB`: one run of the user's code, in a process of its own.

JOB is a JSON file that parent.py writes; what came of the run goes to the file that it names as `output`.

    observe   run the example with its branches and loops observed
    trial     run it with the files as they would be written; say which line failed
    record    run it (in its original form, or with the files as they would be written) and describe what was seen
    compare   say how recorded runs differ from the first
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from autograph_torch.analysis.seen import site_as_json, site_from_json
from autograph_torch.pipeline import Converted, Options, convert_source
from autograph_torch.rewriting import RUNTIME_IMPORT
from autograph_torch.source.file import SourceFile
from autograph_torch.source.left_out import named_in
from autograph_torch.trial.loading import imported_as, module_code
from autograph_torch.trial.observer import OBSERVER, Observer, observed_code
from autograph_torch.trial.outcome import Calls, describe, difference

Job = dict[str, Any]


def main() -> None:
    job: Job = json.loads(Path(sys.argv[1]).read_text())
    task: Callable[[Job], object] = {"observe": observe, "trial": trial, "record": record, "compare": compare}[
        job["task"]
    ]
    done = task(job)
    if done is not None:
        Path(job["output"]).write_text(json.dumps(done))


def observe(job: Job) -> object:
    observers: dict[str, Observer] = {}

    def make_code(path: str) -> tuple[types.CodeType, dict[str, Any]]:
        observer = observers[os.path.realpath(path)] = Observer()
        return observed_code(SourceFile.read(Path(path).read_bytes(), path)), {OBSERVER: observer}

    with imported_as(job["files"], make_code):
        error = _failure(job["example"])
    sites = {path: {k: site_as_json(s) for k, s in observer.sites.items()} for path, observer in observers.items()}
    return {"error": error and error[1], "sites": sites}


def trial(job: Job) -> object:
    with imported_as(job["files"], lambda path: _code_for(path, job)):
        error = _failure(job["example"])
    if error is None:
        return {"error": None, "file": None, "line": 0}
    frames = [f for f in traceback.extract_tb(error[0].__traceback__) if os.path.realpath(f.filename) in job["files"]]
    last = frames[-1] if frames else None
    return {
        "error": error[1],
        "file": os.path.realpath(last.filename) if last else None,
        "line": last.lineno if last else 0,
    }


def record(job: Job) -> None:
    torch.manual_seed(0)
    forms = imported_as(job["files"], lambda path: _code_for(path, job)) if job["target"] else contextlib.nullcontext()
    result, error = None, None
    with forms, contextlib.redirect_stdout(io.StringIO()) as stdout:
        function = _function(job["example"])
        with Calls(job["files"], frozenset(job["functions"])) as calls:
            try:
                result = function()
            except Exception as raised:
                error = f"{type(raised).__name__}: {raised}"
    seen = {
        "result": describe(result),
        "exception": ("str", error),
        "stdout": ("str", stdout.getvalue()),
        "calls": ("calls", *calls.noted),
    }
    torch.save(seen, job["output"])


def compare(job: Job) -> object:
    expected, *others = (torch.load(path, weights_only=True) for path in job["recorded"])
    found = []
    for actual in others:
        texts = (difference(expected[part], actual[part], part) for part in ("exception", "stdout", "result", "calls"))
        found.append(next((text for text in texts if text), ""))
    return {"differences": found, "calls": len(expected["calls"]) - 1}


def converted(path: str, job: Job) -> tuple[SourceFile, Converted]:
    """A file in the form that the job asks for."""
    real = os.path.realpath(path)
    raw = Path(path).read_bytes()
    seen = job["sites"].get(real)
    options = Options(
        target=job["target"],
        seen=None if seen is None else {key: site_from_json(site) for key, site in seen.items()},
        failed={int(line): reason for line, reason in job["failed"].get(real, {}).items()},
        left_out=named_in(real, job["do_not_convert"]),
    )
    return SourceFile.read(raw, path), convert_source(raw, path, options)


def _code_for(path: str, job: Job) -> tuple[types.CodeType, dict[str, Any]]:
    source, done = converted(path, job)
    imports = [RUNTIME_IMPORT] if job["target"] == "autograph" else ["import torch"]
    return module_code(source, done.functions, imports if done.changed else []), {}


def _function(example: str) -> Callable[[], Any]:
    module, _, name = example.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _failure(example: str) -> tuple[BaseException, str] | None:
    """Run the example; the exception that it ends with, and how to name it."""
    try:
        _function(example)()
    except Exception as error:
        return error, f"{type(error).__name__}: {_gist(str(error))}"
    return None


def _gist(message: str) -> str:
    """The line of a long message that says why; torch's have an explanation, and 2.11's of operators a preface."""
    message = message.partition("Got graph break/error:")[2] or message
    lines = [line.strip() for line in message.strip().splitlines()] or [""]
    reasons = [line.removeprefix("Explanation: ") for line in lines if line.startswith("Explanation: ")]
    return (reasons or lines)[0]


if __name__ == "__main__":
    main()
