"""Where nothing is compiled, branches and loops run as Python runs them.

    torch.compile(f, backend="eager")        cond(flag, then, otherwise, operands)
                                             -> (then if flag else otherwise)(*operands), which autograd records

With gradients torch's operators would make a graph of the backward pass of both branches, and of those inside of them,
in every call: n levels of branches are traced more than 2**n times. And what they cannot differentiate then (sizes that
data decide, gradients of gradients) is no question for what Python runs. Compilers see these operators as ever.

Private: the kernels of the two operators, and what tells that a call is traced.
tests/capture/test_eager_bodies.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import is_fake
from torch.fx import GraphModule
from torch.utils._python_dispatch import _get_current_dispatch_mode
from torch.utils._pytree import tree_leaves

_Key: Any = torch._C.DispatchKey  # type: ignore[attr-defined]
_MARK = "autograph_torch: nothing compiles it"


def leave_to_python(graph: GraphModule) -> None:
    """Let the operators in a graph run their bodies in Python: no compiler is going to see it."""
    for body in graph.modules():
        if isinstance(body, GraphModule):
            body.meta[_MARK] = True


def run_bodies_in_python() -> None:
    """Let the two operators ask whether their bodies are left to Python (once for the process)."""
    for operator in (torch.ops.higher_order.cond, torch.ops.higher_order.while_loop):
        _ask_first(operator)


def _ask_first(operator: Any) -> None:
    differentiate = operator.py_kernels[_Key.Autograd]
    run_in_python = operator.py_kernels[_Key.CompositeExplicitAutograd]

    def run(*args: Any, **kwargs: Any) -> Any:
        if _is_left_to_python(args[1]) and not any(map(is_fake, tree_leaves(args))):
            return run_in_python(*args, **kwargs)
        return differentiate(*args, **kwargs)

    operator.py_kernels[_Key.Autograd] = run
    operator._dispatch_cache.clear()


def _is_left_to_python(body: Any) -> bool:
    return isinstance(body, GraphModule) and _MARK in body.meta and _get_current_dispatch_mode() is None
