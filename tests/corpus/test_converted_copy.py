"""torchmetrics from a converted copy, not compiled, gives what the original gives, to the last bit."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from autograph_torch.cli.main import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# Calls every function of torchmetrics.functional with inputs of each kind; what it raises counts as a result.
CALLS = """
import sys, warnings
import torch
import torchmetrics.functional as functional

warnings.simplefilter("ignore")
torch.manual_seed(0)
scores, labels, many = torch.rand(24), torch.randint(0, 2, (24,)), torch.randint(0, 4, (24,))
inputs = {
    "binary": ((scores, labels), {"task": "binary"}),
    "constant": ((torch.zeros(24), labels * 0), {"task": "binary"}),
    "classes": ((torch.rand(24, 4).softmax(-1), many), {"task": "multiclass", "num_classes": 4}),
    "plain": ((scores, labels), {}),
    "labels": ((many, many.flip(0)), {}),
    "numbers": ((scores, scores.flip(0)), {}),
    "with nan": ((torch.cat((scores, torch.tensor([torch.nan]))), torch.cat((scores, scores[:1]))), {}),
    "rows": ((torch.rand(6, 5), torch.rand(6, 5)), {}),
    "images": ((torch.rand(2, 3, 16, 16), torch.rand(2, 3, 16, 16)), {}),
    "texts": ((["the cat is on the mat"], [["there is a cat on the mat", "a cat is on the mat"]]), {}),
}
skipped = ("bert", "infolm", "clip", "pesq", "stoi", "patch", "dnsmos", "nisqa", "path_length", "video", "arniqa")
found = {}
for name in sorted(functional.__all__):
    if any(part in name for part in skipped):
        continue
    for kind, (args, kwargs) in inputs.items():
        torch.manual_seed(1)
        own = [value.clone() if isinstance(value, torch.Tensor) else value for value in args]
        try:
            result = getattr(functional, name)(*own, **kwargs)
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        found[f"{name}, {kind}"] = (result, own)
torch.save((functional.__file__, found), sys.argv[1])
"""


def run(path: Path, answer: Path) -> tuple[str, dict[str, Any]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(path), str(ROOT)))}
    subprocess.run([sys.executable, "-c", CALLS, str(answer)], env=environment, check=True, stdout=subprocess.DEVNULL)
    file, found = torch.load(answer, weights_only=False)
    return file, found


def test_torchmetrics(tmp_path: Path) -> None:
    spec = importlib.util.find_spec("torchmetrics")
    if spec is None or spec.origin is None:
        pytest.skip("torchmetrics is not installed")
    package, copy = Path(spec.origin).parent, tmp_path / "copy" / "torchmetrics"
    assert main(["convert", "-q", "-o", str(copy), str(package)]) == 0
    assert b"ag.cond(" in (copy / "aggregation.py").read_bytes()
    _, expected = run(package.parent, tmp_path / "original.pt")
    file, actual = run(copy.parent, tmp_path / "converted.pt")
    assert file.startswith(str(copy))
    assert expected.keys() == actual.keys()
    assert len(expected) > 500
    assert sum(not isinstance(result, str) for result, _ in expected.values()) > 200
    for call, (result, arguments) in expected.items():
        same = {"rtol": 0, "atol": 0, "equal_nan": True, "msg": lambda text, call=call: f"{call}: {text}"}
        if isinstance(result, str):
            assert actual[call][0] == result, call
        else:
            torch.testing.assert_close(actual[call][0], result, **same)
        tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
        torch.testing.assert_close(actual[call][1][: len(tensors)] if tensors else [], tensors, **same)
