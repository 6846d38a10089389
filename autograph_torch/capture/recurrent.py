"""Recurrent layers (nn.LSTM, nn.GRU, nn.RNN) become part of the graph; torch has a switch for them.

Left out: dropout between their layers on backends that compile, which draw other random numbers for it than eager does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch._dynamo import config

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.failures import nodes_of
from autograph_torch.runtime.gradients import RECURRENT, called, draws_random_numbers


@contextlib.contextmanager
def recurrent_layers() -> Iterator[None]:
    """While this is in force, recurrent layers are taken."""
    with config.patch(allow_rnn=True):
        yield


def check_recurrent(graph: torch.fx.GraphModule) -> None:
    """Stop at a recurrent layer that draws random numbers.

    Raises:
        CaptureError: AG323, at the layer's line.
    """
    for node in nodes_of(graph):
        if node.op.startswith("call_") and called(node) in RECURRENT and draws_random_numbers(node):
            raise capture_error_at(
                node,
                "AG323",
                "dropout between the layers of a recurrent network would draw other random numbers than in eager",
                'use layers without it and nn.Dropout between them, or the backend "eager"',
            )
