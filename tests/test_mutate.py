"""Each guard that tests/mutate.py turns off is still where it was."""

from __future__ import annotations

import pytest

from tests.mutate import MUTATIONS, ROOT, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[mutation.name for mutation in MUTATIONS])
def test_the_text_is_there_once(mutation: Mutation) -> None:
    assert (ROOT / mutation.file).read_text().count(mutation.old) == 1
    assert (ROOT / mutation.tests.partition("::")[0]).exists()
