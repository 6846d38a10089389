"""What the variable of a list or dict holds, without looking into it.

Its contents, or an object of ours in their place: of a list that nothing has looked into (capture/appended_lists.py),
or of one of which only data can tell what is in it (capture/open_contents.py, capture/grown.py).

Private: `items`, the contents of ListVariable and ConstDictVariable.
"""

from __future__ import annotations

from typing import Any

ITEMS = "items"


def held(variable: Any) -> Any:
    """The contents, or what is in their place."""
    return vars(variable).get(ITEMS)
