"""Names of torch that stand for something else for a while.

    with patched(TensorVariable, method_item=method_item):
        ...

What a class inherits is not made its own by this.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

_ABSENT = object()


def method_of(owner: type, name: str) -> Callable[..., Any]:
    """A method of a class, to be called by what takes its place; an inherited one is looked up when it is called.

    Which class of Dynamo has a method differs with the version of torch, and a base class may be patched, too.
    """
    if name in vars(owner) or not hasattr(owner, name):
        return getattr(owner, name)  # type: ignore[no-any-return]

    def inherited(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(super(owner, self), name)(*args, **kwargs)

    return inherited


@contextlib.contextmanager
def patched(owner: Any, **attributes: Any) -> Iterator[None]:
    """While this is in force, a class or module has these attributes; what it had itself comes back."""
    before = {name: vars(owner).get(name, _ABSENT) for name in attributes}
    for name, value in attributes.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
