import torch


def func(x: torch.Tensor, table: dict, name: str):
    if name in table:
        x = x + table[name]
    if name not in ("a", "b"):
        x = x - 1
    if x.dtype in (torch.float32, torch.float64):
        x = x * 2
    if "x" in name:
        x = x / 2
    same = torch.eq(x, x)
    close = torch.isclose(x, x)
    return x, same, close


class Set:
    def equal(self, other: "Set") -> bool:
        return self is other
