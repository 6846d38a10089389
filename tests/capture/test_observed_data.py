"""Numbers that have to be known are what they are in the call of the trace; calls with other data run in Python."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import CaptureError, autograph, convert, trace

X = torch.arange(6.0)
DATA = [torch.tensor(ends) for ends in ([2, 6], [3, 6], [6, 0], [0, 6])]


def centred(x: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    starts = torch.cat([ends.new_zeros(1), ends[:-1]])
    lengths = (ends - starts)[ends > 0].tolist()
    return torch.cat([part - part.mean() for part in torch.split(x, lengths)])


@pytest.mark.filterwarnings("ignore:the graph of", "ignore:.*the graph is for data")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("decorated", [True, False], ids=["decorated", "converted"])
@pytest.mark.parametrize("data", [DATA, DATA[::-1]], ids=["two_first", "one_first"])
def test_every_call_gives_what_eager_gives(data: list[torch.Tensor], backend: str, decorated: bool) -> None:
    if decorated:
        compiled = autograph(centred, backend=backend)
    else:
        compiled = torch.compile(convert(centred), fullgraph=True, backend=backend)
    for ends in data:
        torch.testing.assert_close(compiled(X, ends), centred(X, ends))


def test_a_warning_names_the_line() -> None:
    with pytest.warns(RuntimeWarning, match=r"test_observed_data.py:\d+: the graph is for data"):
        autograph(centred, backend="eager")(X, DATA[0])


@pytest.mark.filterwarnings("ignore:.*the graph is for data")
def test_the_tensors_of_the_call_are_left_alone() -> None:
    def written(x: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return centred(x, ends)

    expected, x = X.clone(), X.clone()
    torch.testing.assert_close(autograph(written, backend="eager")(x, DATA[0]), written(expected, DATA[0]))
    torch.testing.assert_close(x, expected)


def test_what_cannot_run_again_in_python_is_refused() -> None:
    with pytest.raises(CaptureError, match="AG321"):
        trace(centred, X, DATA[0])
