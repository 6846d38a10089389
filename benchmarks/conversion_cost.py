"""What conversion adds to the first call: seconds in the compiler of this package, against those of torch.compile.

    python benchmarks/conversion_cost.py

Each program is compiled in a process of its own, on the backend `eager` (the least that torch.compile can take) and on
`inductor`. `conversion` is the time spent finding, rewriting and compiling the source of every function that the trace
enters; `first call` is all of it. Both are processor time of this process: the C++ compilers that Inductor starts are
left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

Made = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def encoder() -> Made:
    """torch.nn.TransformerEncoder: nothing depends on data."""
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 4).eval(), (torch.randn(2, 5, 32),), {}


def bart() -> Made:
    """BART of transformers with layer drop, in training."""
    from transformers import BartConfig, BartModel

    sizes = {"vocab_size": 64, "d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "encoder_layers": 3}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "decoder_layers": 3}
    drop = {"encoder_layerdrop": 0.5, "decoder_layerdrop": 0.5, "dropout": 0.0, "attention_dropout": 0.0}
    model = BartModel(BartConfig(max_position_embeddings=32, use_cache=False, **sizes, **heads, **drop))
    return model.train(), (), {"input_ids": torch.randint(3, 64, (2, 7))}


def unet() -> Made:
    """A U-Net of diffusers: the largest of the corpus."""
    from diffusers import UNet2DModel

    channels = {"block_out_channels": (32, 64), "down_block_types": ("DownBlock2D", "AttnDownBlock2D")}
    model = UNet2DModel(sample_size=16, layers_per_block=1, up_block_types=("AttnUpBlock2D", "UpBlock2D"), **channels)
    return model.eval(), (torch.randn(1, 3, 16, 16), torch.tensor([10])), {}


PROGRAMS = {"encoder": (encoder, ""), "bart": (bart, "transformers"), "unet": (unet, "diffusers")}


def measure(name: str, backend: str) -> tuple[float, float]:
    """Seconds of the first call, and those of conversion in it."""
    from autograph_torch import autograph
    from autograph_torch.capture import conversions

    torch.manual_seed(0)
    function, args, kwargs = PROGRAMS[name][0]()
    spent = 0.0
    convert = conversions.convert_code

    def timed(*arguments: Any) -> Any:
        nonlocal spent
        begin = time.process_time()
        try:
            return convert(*arguments)
        finally:
            spent += time.process_time() - begin

    conversions.convert_code = timed
    begin = time.process_time()
    autograph(function, backend=backend)(*args, **kwargs)
    return time.process_time() - begin, spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=2, metavar=("PROGRAM", "BACKEND"), help="measure in this process")
    chosen = parser.parse_args()
    if chosen.one:
        print(*measure(*chosen.one))
        return
    table = Table("program", "backend", "first call, s", "conversion, s", "share")
    for name, (_, needs) in PROGRAMS.items():
        if needs and importlib.util.find_spec(needs) is None:
            continue
        for backend in ("eager", "inductor"):
            command = [sys.executable, "-W", "ignore", __file__, "--one", name, backend]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                table.add_row(name, backend, "fails", "", "")
                continue
            whole, spent = map(float, done.stdout.split()[-2:])
            table.add_row(name, backend, f"{whole:.2f}", f"{spent:.2f}", f"{spent / (whole - spent):.0%}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
