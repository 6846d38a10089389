"""Names of torch that stand for something else for a while.

    with patched(TensorVariable, method_item=method_item):
        ...

What a class inherits is not made its own by this.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_ABSENT = object()


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
