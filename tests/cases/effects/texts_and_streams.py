import sys

import torch


def func(x: torch.Tensor, name: str) -> torch.Tensor:
    total = x.sum()
    head = f"{name}: "
    text = head + f"sum {total:.2f}, {x.max()!r}"
    print(text, "mean %.3f of %s" % (x.mean(), name))
    sys.stdout.write("{:>8}|\n".format(total.item()))
    sys.stderr.flush()
    if total > 0:
        print(", ".join(str(v) for v in x), file=sys.stderr)
        print([f"{total}"], *x.shape, sep="-")
    other = f"{total:.1f}"
    return x, other
# output
import sys

import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, name: str) -> torch.Tensor:
    total = x.sum()
    head = f"{name}: "
    text = ag.text("{}{}", head, ag.text("sum {:.2f}, {!r}", total, x.max()))
    ag.effect(print, text, ag.percent("mean %.3f of %s", (x.mean(), name)))
    ag.effect(print, ag.text("{:>8}|\n", total.item()), end="")
    ag.effect(print, end="", flush=True, file=sys.stderr)
    def then():
        ag.effect(
            print,
            ag.joined(", ", (ag.text("{!s}", v) for v in x)),
            file=sys.stderr,
        )
        ag.effect(print, [ag.text("{}", total)], *x.shape, sep="-")
    ag.cond(total > 0, then)
    other = f"{total:.1f}"
    return x, other
# calls
func(torch.tensor([1.0, 2.0]), "a")
func(torch.tensor([-1.0, 2.0]) * 3, "b")
