"""The import of the runtime lands where a person would have put it, once."""

from __future__ import annotations

import pytest

from autograph_torch.source.edits import apply
from autograph_torch.source.file import SourceFile
from autograph_torch.source.imports import add_import

AG = "import autograph_torch.runtime as ag"

# What is there, and the same with `@` where the import is expected.
CASES = [
    ("", "@\n"),
    ("x = 1", "@\n\nx = 1"),
    ("import torch\n", "import torch\n@\n"),
    ("import torch", "import torch\n@\n"),
    ("import torch\r\nx = 1\r\n", "import torch\r\n@\r\n\r\nx = 1\r\n"),
    ("import os\n\nimport torch\n\nx = 1\n", "import os\n\nimport torch\n@\n\nx = 1\n"),
    ("import os\nx = 1\n", "import os\n\n@\n\nx = 1\n"),
    ("from torch import (\n    nn,\n)\nfrom . import a\n", "from torch import (\n    nn,\n)\n@\nfrom . import a\n"),
    ("from . import a\n", "@\nfrom . import a\n"),
    ("import torch; import numpy  # both\nx = 1\n", "import torch; import numpy  # both\n@\n\nx = 1\n"),
    ('"""Doc."""\nx = 1\n', '"""Doc."""\n\n@\n\nx = 1\n'),
    ('"""Doc."""', '"""Doc."""\n\n@\n'),
    ("from __future__ import annotations\n\nx = 1\n", "from __future__ import annotations\n\n@\n\nx = 1\n"),
    ("#!/usr/bin/env python\ndef f(): pass\n", "#!/usr/bin/env python\n\n@\n\n\ndef f(): pass\n"),
    ("# Licence\n\nx = 1\n", "# Licence\n\n@\n\nx = 1\n"),
    ("# about f\ndef f(): pass\n", "@\n\n# about f\ndef f(): pass\n"),
    (
        "import torch\nif TYPE_CHECKING:\n    import a\ntry:\n    import b\nexcept E:\n    b = None\nx = 1\n",
        "import torch\n@\n\nif TYPE_CHECKING:\n    import a\ntry:\n    import b\nexcept E:\n    b = None\nx = 1\n",
    ),
    ("x = 1\nimport torch\n", "@\n\nx = 1\nimport torch\n"),
]


@pytest.mark.parametrize("before, after", CASES)
def test_placed_and_only_once(before: str, after: str) -> None:
    source = SourceFile.read(before.encode(), "t.py")
    edit = add_import(source, AG)
    assert edit is not None
    out = apply(source, [edit])
    assert out.decode() == after.replace("@", AG)
    assert add_import(SourceFile.read(out, "t.py"), AG) is None


@pytest.mark.parametrize("text", [AG, f"import torch, autograph_torch.runtime as ag\n{AG}", f"'doc'\nx = 1\n{AG}\n"])
def test_already_there(text: str) -> None:
    assert add_import(SourceFile.read(text.encode(), "t.py"), AG) is None


@pytest.mark.parametrize(
    "text", ["import autograph_torch.runtime", "def f():\n    import autograph_torch.runtime as ag"]
)
def test_another_import_does_not_count(text: str) -> None:
    assert add_import(SourceFile.read(text.encode(), "t.py"), AG) is not None
