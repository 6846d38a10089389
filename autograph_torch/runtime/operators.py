"""torch's control-flow operators under one name for all supported versions."""

from __future__ import annotations

import torch

# Public as torch.while_loop from 2.12 on; before, only under its private module.
if hasattr(torch, "while_loop"):
    while_loop = torch.while_loop
else:
    from torch._higher_order_ops.while_loop import while_loop

__all__ = ["while_loop"]
