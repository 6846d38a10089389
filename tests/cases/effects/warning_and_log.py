import logging
import warnings

import torch

logger = logging.getLogger(__name__)


def func(x: torch.Tensor) -> torch.Tensor:
    warnings.warn("careful")
    logger.info("norm %s", x.norm())
    if x.max() > 1:
        logger.warning("big")
    return x
# output
import logging
import warnings

import torch
import autograph_torch.runtime as ag

logger = logging.getLogger(__name__)


def func(x: torch.Tensor) -> torch.Tensor:
    ag.effect(warnings.warn, "careful")
    ag.effect(logger.info, "norm %s", x.norm())
    ag.cond(x.max() > 1, lambda: ag.effect(logger.warning, "big"))
    return x
# calls
func(torch.tensor([1.0]))
func(torch.tensor([3.0]))
