"""How fast `autograph-torch convert` is, beside a codemod of libcst and TF AutoGraph's `to_code`, in one run.

python benchmarks/convert.py PATH                        a directory of Python files; torch's own if none is given
python benchmarks/convert.py PATH --others PYTHON        an interpreter that has libcst and tensorflow, to compare with

What is missing there is left out. Times are CPU seconds of one core, but for the ratio of the two runs with -j.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograph_torch.cli.converting import convert_bytes
from autograph_torch.pipeline import convert_source

MEBIBYTE = 1024  # of the kibibytes that Linux counts memory in

# Run by the other interpreter; each prints how many CPU seconds the work took, without the start.
LIBCST = """
import sys, time
try:
    import libcst
except ImportError:
    sys.exit("not installed")

class Nothing(libcst.CSTTransformer):
    def leave_If(self, original_node, updated_node):
        return updated_node

texts = [open(path, "rb").read() for path in sys.stdin.read().splitlines()]
start = time.process_time()
for text in texts:
    libcst.parse_module(text).visit(Nothing()).bytes
print(time.process_time() - start)
"""
AUTOGRAPH = """
import importlib.util, os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    from tensorflow import autograph
except ImportError:
    sys.exit("not installed")

spec = importlib.util.spec_from_file_location("functions", sys.stdin.read())
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
functions = [f for f in vars(module).values() if getattr(f, "__module__", "") == "functions"]
failed = lines = 0
start = time.process_time()
for function in functions:
    try:
        lines += autograph.to_code(function).count("\\n")
    except Exception:
        failed += 1
print(time.process_time() - start, failed, lines)
"""


@dataclass(frozen=True)
class Cost:
    """What a process took: seconds by the clock, CPU seconds with its children, memory of the largest in KiB."""

    wall: float
    cpu: float
    memory: int


def main() -> None:
    """Print the figures, one a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--others", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each command; the best counts")
    options = parser.parse_args()
    root = options.path or _torch()
    files = sorted(root.rglob("*.py"))
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    print(f"{len(files)} files, {lines} lines")
    _whole(root, lines, options.rounds)
    _files_without_torch(files)
    sample = [path for path in files if b"torch" in path.read_bytes()][:: max(len(files) // 60, 1)]
    _beside_libcst(sample, options.others)
    _beside_autograph(files, options.others)


def _torch() -> Path:
    import torch

    return Path(torch.__file__).parent


def _whole(root: Path, lines: int, rounds: int) -> None:
    """The command itself, on one core and on two."""
    command = [sys.executable, "-m", "autograph_torch", "convert", "--check", "--quiet", str(root)]
    one, two = (min((_cost([*command, "-j", jobs]) for _ in range(rounds)), key=lambda c: c.wall) for jobs in "12")
    _show("convert -j 1", f"{lines / one.cpu:8.0f} lines a second of CPU time, {one.memory / MEBIBYTE:.0f} MiB at most")
    _show(
        "convert -j 2",
        f"{one.wall / two.wall:8.2f} times as fast, {two.memory / MEBIBYTE:.0f} MiB in its largest process",
    )


def _cost(command: Sequence[str]) -> Cost:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def _files_without_torch(files: Sequence[Path]) -> None:
    idle = [path for path in files if b"torch" not in path.read_bytes() and b"autograph" not in path.read_bytes()]
    if not idle:
        return
    start = time.process_time()
    texts = [path.read_bytes() for path in idle]
    middle = time.process_time()
    for text in texts:
        convert_bytes(text, "idle.py")
    read, convert = middle - start, time.process_time() - middle
    _show(
        "without torch", f"{1e6 * convert / len(idle):8.1f} us a file, after {1e6 * read / len(idle):.1f} us to read it"
    )


def _beside_libcst(sample: Sequence[Path], python: str) -> None:
    lines = sum(path.read_bytes().count(b"\n") for path in sample)
    texts = [path.read_bytes() for path in sample]
    start = time.process_time()
    for text in texts:
        convert_bytes(text, "sample.py")
    _show("every nth file", f"{lines / (time.process_time() - start):8.0f} lines a second ({lines} lines)")
    answer = _other(python, LIBCST, "\n".join(map(str, sample)))
    _show("  libcst, no change", f"{lines / float(answer[0]):8.0f} lines a second" if answer else "not installed")


def _beside_autograph(files: Sequence[Path], python: str) -> None:
    """Functions that convert rewrites and that a module can hold without the rest of theirs."""
    functions = list(dict.fromkeys(text for path in files for text in _functions(path)))[:200]
    text = "from __future__ import annotations\n\nimport torch\n\n\n" + "\n\n\n".join(functions)
    lines = sum(function.count("\n") + 1 for function in functions)
    start = time.process_time()
    output = convert_source(text.encode(), "functions.py").output
    ours = time.process_time() - start
    grown = output.count(b"\n") - text.count("\n")
    _show(
        f"{len(functions)} functions",
        f"{lines / ours:8.0f} lines a second, {1 + grown / lines:.2f} lines for each of {lines}",
    )
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder, "functions.py")
        module.write_text(text.replace("import torch\n", "torch = None\n"))
        answer = _other(python, AUTOGRAPH, str(module))
    if answer:
        seconds, failed, emitted = map(float, answer)
        _show(
            "  TF AutoGraph",
            f"{lines / seconds:8.0f} lines a second, {emitted / lines:.2f} lines for each, {failed:.0f} failed",
        )
    else:
        _show("  TF AutoGraph", "not installed")


def _functions(path: Path) -> Iterator[str]:
    """The functions of a file that are rewritten, have names of their own, and take only constants as defaults."""
    raw = path.read_bytes()
    if b"torch" not in raw:
        return
    done = convert_source(raw, path.name)
    text = raw.decode("utf-8", "replace")
    changed = {one.original.lineno for one in done.functions if one.changed}
    for node in ast.parse(raw).body:
        if isinstance(node, ast.FunctionDef) and node.lineno in changed and not node.decorator_list:
            defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            if all(isinstance(default, ast.Constant) for default in defaults):
                yield ast.get_source_segment(text, node) or ""


def _other(python: str, program: str, given: str) -> list[str]:
    """What a program prints in another interpreter; nothing where it does not run."""
    done = subprocess.run([python, "-c", program], input=given, capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def _show(name: str, figures: str) -> None:
    print(f"{name:20} {figures}", flush=True)


if __name__ == "__main__":
    main()
