"""A training loss that checks its input, logs and warns, as one graph, with the text and exceptions of eager."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import warnings

import torch
from torch import nn

from autograph_torch import autograph, explain

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "inductor")

logger = logging.getLogger("training")


class Loss(nn.Module):
    """The loss of a small network, and its value as a number for the caller's records."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, float]:
        if not x.isfinite().all():
            raise ValueError(f"{(~x.isfinite()).sum().item()} values of x are not finite")
        scale = x.abs().max().item()
        if scale > 10:
            warnings.warn(f"large input: {scale:.1f}", RuntimeWarning, stacklevel=1)
            x = x / scale
        loss = nn.functional.mse_loss(self.net(x), y)
        logger.info("loss %.4f", loss.item())
        return loss, loss.item()


def run(model: nn.Module, batches: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[list[float], str]:
    """The losses and all that was logged, warned and raised."""
    losses = []
    with contextlib.redirect_stderr(io.StringIO()) as text, warnings.catch_warnings():
        warnings.simplefilter("always")
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(funcName)s:%(lineno)d %(message)s"))
        logger.addHandler(handler)
        for x, y in batches:
            try:
                loss, number = model(x, y)
            except ValueError as error:
                print("skipped:", error, file=sys.stderr)
                continue
            loss.backward()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.1 * parameter.grad
                    parameter.grad = None
            losses.append(number)
        logger.removeHandler(handler)
    return losses, text.getvalue()


def main() -> None:
    logger.setLevel(logging.INFO)
    logger.propagate = False
    batches = []
    for k in range(5):
        x = torch.randn(8, 4) * (20 if k == 2 else 1)
        if k == 3:
            x[0, 0] = float("nan")
        batches.append((x, x.sum(1, keepdim=True).tanh()))
    results = []
    for compiled in (False, True):
        torch.manual_seed(0)
        model = Loss()
        results.append(run(autograph(model, backend=BACKEND) if compiled else model, batches))
    (plain, text), (fast, fast_text) = results
    torch.testing.assert_close(fast, plain, rtol=1e-3, atol=1e-4)
    assert fast_text.splitlines()[-1].split()[0] == text.splitlines()[-1].split()[0]
    assert len(fast_text.splitlines()) == len(text.splitlines())
    print(fast_text)
    print(explain(Loss(), *batches[0]))


if __name__ == "__main__":
    torch.manual_seed(0)
    main()
