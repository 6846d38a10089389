"""Prints in every form, in every place: text, order and stream as in eager Python."""

# ruff: noqa: E741, UP031, UP032, F841, C416 (the ways in which users write it)

import sys

import rich
import torch
from torch import nn

from tests.harness import integer, program, scalar, vec

BOTH = [lambda: (vec(3, 4),), lambda: (vec(-1, -2),)]


@program(inputs=BOTH)
def many_arguments(x):
    print("x", x, x.sum(), 3, 2.5, None, True, "end")
    return x + 1


@program(inputs=BOTH)
def separator_and_end(x):
    print(x.sum(), x.max(), sep=" | ", end=";\n")
    print("a", "b", sep="")
    print()
    return x


@program(inputs=BOTH)
def to_stderr(x):
    print("out", x.sum())
    print("err", x.sum(), file=sys.stderr)
    print("out again", flush=True)
    return x


@program(inputs=BOTH)
def format_specs(x):
    total = x.sum()
    print(f"{total:.3f} {total:>10.2f} {total:+e} {x.max().item():08.3f}")
    print(f"{total}")
    return total


@program(inputs=BOTH)
def format_spec_that_is_computed(x):
    width = 9
    print(f"{x.sum().item():{width}.{2}f}|")
    return x


@program(inputs=BOTH)
def conversions_and_debug_text(x):
    total = x.sum()
    print(f"{total!r} {total!s} {total=} {x.shape[0]=}")
    return x


@program(inputs=BOTH)
def percent_formatting(x):
    print("total %.2f of %d, %s" % (x.sum(), x.shape[0], x))
    print("%s" % x.max())
    print("%(a).1f" % {"a": x.min()})
    return x


@program(inputs=BOTH)
def str_format(x):
    print("total {:.2f} {n}".format(x.sum(), n=x.shape[0]))
    print("{0} {0:.1f} {1}".format(x.sum(), x))
    return x


@program(inputs=BOTH)
def text_made_before(x):
    text = f"norm {x.norm().item():.3f}"
    if x.sum() > 0:
        print(text)
    print(text + "!", "again " + text)
    return x


@program(inputs=BOTH)
def text_by_branch(x):
    if x.sum() > 0:
        print("positive: " + str(x.sum().item()))
    else:
        print("negative: " + str(x))
    return x


@program(inputs=BOTH)
def join_of_values(x):
    print(", ".join(f"{v:.1f}" for v in x))
    print(" ".join(str(v) for v in x.tolist()))
    return x


@program(inputs=BOTH)
def containers(x):
    print([x, 1, "a"], (x.sum(), 2.0), {"k": x, 3: [x.max()]})
    return x


@program(inputs=BOTH)
def shapes_and_types(x):
    print(x.shape, x.dtype, x.device, x.size(), x.ndim, len(x), type(x).__name__)
    return x


@program(inputs=BOTH)
def written_to_stdout(x):
    sys.stdout.write(f"sum {x.sum().item():.2f}\n")
    if x.sum() > 0:
        sys.stdout.write("positive\n")
    sys.stderr.write("done\n")
    return x


@program(inputs=BOTH)
def printed_by_rich(x):
    rich.print("sum", x.sum().item())
    if x.sum() > 0:
        rich.print("[bold]positive[/bold]")
    return x


@program(inputs=BOTH)
def value_of_the_moment(x):
    print(x)
    x += 1
    print(x)
    x[0] = 7
    if x.sum() > 8:
        x.mul_(2)
        print("in", x)
    print(x)
    return x


@program(inputs=BOTH)
def view_of_the_moment(x):
    y = x.clone()
    head = y[:1]
    print(head, y)
    y.zero_()
    print(head, y)
    return head


@program(inputs=[lambda: (integer(0),), lambda: (integer(1),), lambda: (integer(4),)])
def trips_of_a_while(n):
    i = torch.tensor(0)
    total = torch.tensor(0.0)
    while i < n:
        print("trip", i, "total", total.item())
        total = total + i
        i = i + 1
    else:
        print("no break")
    print(f"done {total}")
    return total


@program(inputs=[lambda: (integer(0),), lambda: (integer(1),), lambda: (integer(5),)])
def only_some_trips(n):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            print(f"even {i}")
            continue
        if i > 3:
            print("large", i)
        total = total + i
    print("total", total)
    return total


@program(inputs=BOTH)
def nested_three_deep(x):
    print("a")
    for k in range(2):
        print("b", k)
        if x.sum() > 0:
            print("c")
            y = x
            while y.sum() > 1:
                print("d", y.sum())
                y = y / 4
            print("e")
        else:
            print("f")
        x = x - 2
    print("g")
    return x


def helper(x, name="helper"):
    print(name, "sees", x.sum().item())
    if x.max() > 1:
        print(name, "large")
        return x / 2
    print(name, "small")
    return x


@program(inputs=BOTH)
def in_called_functions(x):
    x = helper(x)
    if x.sum() > 0:
        x = helper(x, name="branch")
    x = helper(x=x, name="last")
    return x


@program(inputs=BOTH, grad=True)
def in_training(x):
    h = (x * 2).tanh()
    print(f"mean {h.mean().item():.4f}")
    if h.sum() > 0:
        print("positive", h.detach())
        h = h * 3
    return h.sum()


@program(inputs=[lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),)], grad=True)
def loop_in_training(x):
    while x.norm() > 1:
        print("norm", round(x.norm().item(), 3))
        x = x * 0.5
    return x.sum()


@program(inputs=[lambda: (torch.ones(2, 3),), lambda: (-torch.ones(2, 3),)], grad=True)
class PrintPerLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = layer(x).relu()
            print(f"layer {index}: mean {x.mean().item():.4f}, shape {tuple(x.shape)}")
            if x.max() > 0.5:
                print("  large activations in", index)
        return x


@program(inputs=BOTH, refused="modules cannot be made in a graph")
def module_printed(x):
    layer = nn.Linear(2, 2)
    print(layer)
    return x


@program(inputs=BOTH)
def print_as_a_value(x):
    result = print("value")
    if x.sum() > 0:
        x = x + 1
    return x, result


@program(inputs=BOTH, refused="None or a tensor")
def print_in_an_expression(x):
    y = x.sum() > 0 and print("positive")
    return x


@program(inputs=BOTH)
def print_in_a_lambda(x):
    show = lambda v: print("shown", v)  # noqa: E731
    show(x)
    if x.sum() > 0:
        show(x * 2)
    return x


@program(inputs=BOTH, refused="only the name `print` is known")
def print_under_another_name(x):
    say = print
    say("hello", x)
    if x.sum() > 0:
        say("positive")
    return x


@program(inputs=BOTH)
def print_with_stars(x):
    parts = ["a", x, 3]
    options = {"sep": "-"}
    print(*parts, **options)
    if x.sum() > 0:
        print(*parts)
    return x


@program(inputs=BOTH)
def booleans_and_ints_from_data(x):
    print(bool(x.sum() > 0), int(x.sum()), float(x.max()), x.argmax().item())
    print((x > 0).all(), not bool((x > 0).any()))
    return x


@program(inputs=[lambda: (scalar(2.5),), lambda: (scalar(-2.5),)])
def scalars_in_text(t):
    n = int(t)
    print(f"{n} {n:03d} {t.item():.1%} {round(t.item(), 1)}")
    return n


@program(inputs=BOTH)
def nothing_but_prints(x):
    print("only", x)
    if x.sum() > 0:
        print("positive")


@program(inputs=BOTH)
def print_in_try_finally(x):
    try:
        print("trying", x.sum())
        y = x * 2
    finally:
        print("finally")
    return y


@program(inputs=BOTH)
def print_in_with(x):
    with torch.no_grad():
        print("no grad", x.sum())
        if x.sum() > 0:
            print("positive")
            x = x + 1
    print("after")
    return x


@program(inputs=BOTH, refused="parameters cannot be made in a graph")
def print_of_parameter(x):
    p = nn.Parameter(torch.ones(2), requires_grad=False)
    print(p)
    return x * p


@program(inputs=BOTH)
def generator_and_comprehension(x):
    [print("item", k, x[k]) for k in range(2)]
    return x


@program(inputs=BOTH)
def lists_mutated_later(x):
    l = [1, x]
    d = {"a": x}
    print(l, d)
    l.append(2)
    d["b"] = 3
    x = x + 1
    print(l, d, len(l))
    return x


@program(inputs=BOTH)
def text_in_loop(x):
    for k in range(3):
        msg = f"k={k} s={x.sum().item():.1f}"
        if x.sum() > k:
            print(msg)
        x = x - 1
    return x


@program(inputs=BOTH)
def walrus_print(x):
    if (s := x.sum()) > 0:
        print(f"{s=:.2f}")
    return x


@program(inputs=BOTH)
def nested_function_prints(x):
    tag = "t"

    def show(v, *, end="\n"):
        print(tag, v, end=end)

    show(x, end="|")
    if x.sum() > 0:
        show(x.max())
    return x


@program(inputs=BOTH)
def print_end_without_newline(x):
    for k in range(3):
        print(".", end="")
        if x.sum() > k:
            print("+", end="", flush=True)
    print()
    return x


@program(inputs=BOTH)
def print_between_writes(x):
    b = torch.zeros(2)
    b[0] = x[0]
    print(b)
    b[1] = x[1].item()
    print(b, b.sum().item())
    b.fill_(x.sum().item())
    print(b)
    return b
