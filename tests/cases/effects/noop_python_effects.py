import math

import torch


class Recorder:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def info(self, text: str) -> None:
        self.lines.append(text)


def func(x: torch.Tensor, k: int):
    assert k > 0, "k must be positive"
    assert x.dim() == 2 and x.shape[0] == k
    assert isinstance(x, torch.Tensor)
    if k > 3:
        raise ValueError(f"k is {k}")
    recorder = Recorder()
    recorder.info("start")
    y = math.log(k)
    text = f"{k} rows"
    return x, y, text, recorder
