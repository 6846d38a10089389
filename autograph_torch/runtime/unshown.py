"""What the text of an exception may stand upon, but not show, because the graph cannot give it.

    raise ValueError(f"bad values in {self}")     self.loss needs a gradient: eager shows its grad_fn

Whether it is shown is known when the text is made. Only then, when the exception is raised, the call is refused.
"""

from __future__ import annotations

from typing import Any, NoReturn

import torch


class NotShownError(BaseException):
    """A text shows what the graph cannot give. No handler of the program is to catch this one."""

    def __init__(self, code: str, what: str) -> None:
        super().__init__(what)
        self.code = code


class Unknown:
    """Stands for a value that is not known when the graph runs; whoever looks at it fails."""

    def __init__(self, what: str) -> None:
        object.__setattr__(self, "_what", what)

    def __getattribute__(self, name: str) -> NoReturn:
        raise NotShownError("AG324", object.__getattribute__(self, "_what"))

    def _refuse(self, *_: Any) -> Any:
        raise NotShownError("AG324", object.__getattribute__(self, "_what"))

    __repr__ = __str__ = __format__ = __bool__ = __len__ = __iter__ = __call__ = __getitem__ = _refuse
    __eq__ = __ne__ = __hash__ = __contains__ = __add__ = __radd__ = _refuse


def with_gradient(tensor: torch.Tensor, is_parameter: bool) -> torch.Tensor:
    """The tensor, of which sizes and numbers may be shown, but not the text: it would lack the gradient."""
    return tensor.as_subclass(_PARAMETER if is_parameter else _TENSOR)  # type: ignore[arg-type]


def _refuse_text(self: torch.Tensor, *_: Any) -> str:
    raise NotShownError("AG322", f"a {type(self).__name__.lower()} with a gradient")


def _format_number(self: torch.Tensor, spec: str) -> str:
    if self.dim() == 0:
        return format(self.item(), spec)
    return object.__format__(self, spec)


# Under the names that eager shows.
_TENSOR = type(
    "Tensor", (torch.Tensor,), {"__repr__": _refuse_text, "__str__": _refuse_text, "__format__": _format_number}
)
_PARAMETER = type("Parameter", (torch.Tensor,), {"__repr__": _refuse_text, "__str__": _refuse_text})
