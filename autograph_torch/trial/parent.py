"""Starting the processes that run the user's code, for the command line. Does not import torch.

learn    what an example shows of the branches and loops of some files, and which of their rewritten forms fail
verify   whether files, rewritten, do what they did before
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import autograph_torch
from autograph_torch.analysis.seen import Site, site_from_json
from autograph_torch.diagnostics import ConversionError, Diagnostic

_TRIALS = 20


@dataclass(frozen=True)
class Learned:
    """What an example has shown, by file: types, and lines whose rewritten form failed when the example ran it."""

    sites: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    failed: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    def seen(self, path: str | os.PathLike[str]) -> Mapping[str, Site]:
        """The types of the branches and loops of one file; none where the example did not import it."""
        found = self.sites.get(os.path.realpath(path), {})
        return {key: site_from_json(site) for key, site in found.items()}

    def lines(self, path: str | os.PathLike[str]) -> Mapping[int, str]:
        return self.failed.get(os.path.realpath(path), {})


@dataclass(frozen=True)
class Comparison:
    """How the runs of a rewritten program differ from the original's, by target; empty where they do not."""

    differences: Mapping[str, str]
    calls: int


def learn(example: str, files: Sequence[str], do_not_convert: Sequence[str] = ()) -> Learned:
    """Run an example, and then again with its branches and loops rewritten, until nothing fails.

    Args:
        example: `module:function`.
        files: the files to rewrite.
        do_not_convert: names of what in them stays as it is.

    Raises:
        ConversionError: AG330, the example cannot be run as it is.
    """
    real = [os.path.realpath(file) for file in files]
    with tempfile.TemporaryDirectory() as folder:
        seen = _run(folder, {"task": "observe", "example": example, "files": real})
        if seen["error"]:
            raise _failed(example, seen["error"])
        failed: dict[str, dict[int, str]] = {}
        for _ in range(_TRIALS):
            job: dict[str, Any] = {"task": "trial", "example": example, "files": real, "target": "torch"}
            job |= {"do_not_convert": list(do_not_convert)}
            done = _run(folder, {**job, "sites": seen["sites"], "failed": failed})
            if done["error"] is None:
                return Learned(seen["sites"], failed)
            lines = failed.setdefault(done["file"] or "", {})
            if done["file"] is None or done["line"] in lines:
                raise _failed(example, f"with its branches rewritten it ends in {done['error']}")
            lines[done["line"]] = f"torch does not take it ({done['error']})"
    raise _failed(example, "too many of its branches cannot be rewritten")


def verify(
    example: str, files: Sequence[str], functions: Sequence[str], learned: Learned, do_not_convert: Sequence[str] = ()
) -> Comparison:
    """Run an example on the original and on both rewritten forms, and compare what can be seen.

    Args:
        example: `module:function`.
        files: the files to rewrite.
        functions: names of the functions in them whose calls are compared.
        learned: types for the target torch.
        do_not_convert: names of what in the files stays as it is.
    """
    real = [os.path.realpath(file) for file in files]
    with tempfile.TemporaryDirectory() as folder:
        recorded = []
        for target in ("", "autograph", "torch"):
            recorded.append(os.path.join(folder, f"{target or 'original'}.pt"))
            torch_only = target == "torch"
            job: dict[str, Any] = {"task": "record", "example": example, "files": real, "target": target}
            job |= {"functions": list(functions), "do_not_convert": list(do_not_convert)}
            job |= {"sites": learned.sites if torch_only else {}, "failed": learned.failed if torch_only else {}}
            _run(folder, job, output=recorded[-1])
        done = _run(folder, {"task": "compare", "example": example, "recorded": recorded})
    return Comparison(dict(zip(("autograph", "torch"), done["differences"], strict=True)), done["calls"])


def _run(folder: str, job: Mapping[str, Any], output: str = "") -> Any:
    """One process; what it prints goes to stderr, so that stdout is ours."""
    answer = output or os.path.join(folder, "answer.json")
    file = os.path.join(folder, "job.json")
    Path(file).write_text(json.dumps({**job, "output": answer}))
    package = str(Path(autograph_torch.__file__).parents[1])
    path = os.pathsep.join(part for part in (os.environ.get("PYTHONPATH", ""), package) if part)
    done = subprocess.run(
        [sys.executable, "-m", "autograph_torch.trial.child", file],
        env={**os.environ, "PYTHONPATH": path},
        stdout=2,
        check=False,
    )
    if done.returncode != 0 or not os.path.exists(answer):
        raise _failed(str(job["example"]), f"its process ended with {done.returncode}")
    return None if output else json.loads(Path(answer).read_text())


def _failed(example: str, reason: str) -> ConversionError:
    return ConversionError(
        Diagnostic("AG330", example, 1, 1, 1, f"the example cannot be used: {reason}", "it must run as it is")
    )
