"""What expressions may be: tensors, sizes and numbers that depend on data, containers, Python values."""

from __future__ import annotations

import pytest

from autograph_torch.analysis.kinds import Imports, Kind, Kinds, imports_of, parameter_kinds
from tests.analysis.reading import block, expression, function, kinds_in

P, C, U, S, T, D = Kind.PYTHON, Kind.CONTAINER, Kind.UNKNOWN, Kind.SYMBOL, Kind.TENSOR, Kind.DYNAMIC

SIGNATURE = """\
def f(self, x: torch.Tensor, n: int, flag: bool, name: str, xs: list[torch.Tensor], u, *args, opt=None, **kw):
    pos = x.nonzero()
    mask = x > 0
    count = x.sum().item()
"""

OF = {
    # Python values
    "1": P,
    "'a'": P,
    "None": P,
    "f'{x}'": P,
    "n + 1": P,
    "n > 2": P,
    "not flag": P,
    "flag and n > 1": P,
    "lambda: x": P,
    "x is None": P,
    "u is not None": P,
    "u == 'a'": P,
    "opt is None or n": P,
    "self.training": P,
    "x.shape": P,
    "x.shape[0]": P,
    "x.shape[0] > 4": P,
    "x.ndim == 3": P,
    "x.dim() == 3": P,
    "x.size(0) * 2": P,
    "x.numel()": P,
    "x.dtype == torch.float32": P,
    "x.device.type": P,
    "x.is_floating_point()": P,
    "isinstance(x, torch.Tensor)": P,
    "hasattr(x, 'grad')": P,
    "torch.is_tensor(x)": P,
    "torch.is_grad_enabled()": P,
    "torch.float32": P,
    "torch.device('cpu')": P,
    "math.pi": P,
    "math.sqrt(n)": P,
    "int(n)": P,
    "len(x)": P,
    "max(n, 3)": P,
    "'a' in kw": P,
    "name.startswith('a')": P,
    # containers
    "[x]": C,
    "(x, 1)": C,
    "{'a': x}": C,
    "{x}": C,
    "[row for row in x]": C,
    "xs": C,
    "args": C,
    "list(x)": C,
    "range(n)": C,
    "zip(x, xs)": C,
    "sorted(xs)": C,
    # nothing is known
    "u": U,
    "u + 1": U,
    "self.weight": U,
    "g(x)": U,
    "xs[0]": U,
    "kw['a']": U,
    "self.layer(x)": U,
    "any(xs)": U,
    "u > 0": U,
    "not u": U,
    # numbers that depend on data
    "x.item()": S,
    "x.sum().item() > 0": S,
    "x.tolist()": S,
    "count": S,
    "count + 1": S,
    "-count": S,
    "not mask.any()": S,
    "torch.equal(x, x)": S,
    "torch.allclose(x, x)": S,
    "x.equal(x)": S,
    "len(pos)": S,
    "pos.shape[0]": S,
    "pos.size(0)": S,
    "pos.numel() > 0": S,
    "int(x)": S,
    "float(x.sum())": S,
    "bool(x.any())": S,
    "1 in x": S,
    "math.sqrt(x)": S,
    # tensors
    "x": T,
    "x + 1": T,
    "1 - x": T,
    "-x": T,
    "x > 0": T,
    "x.sum()": T,
    "x.sum() > 0": T,
    "x.sum() > 0 and flag": T,
    "0 < x.sum() < 1": T,
    "x[0]": T,
    "x[:, 1:]": T,
    "x.T": T,
    "x.grad": T,
    "x.view(-1)": T,
    "u.sum()": T,
    "torch.zeros(3)": T,
    "torch.stack(xs)": T,
    "torch.where(x > 0, x, 0)": T,
    "F.relu(x)": T,
    "x if flag else u": T,
    "(y := x)": T,
    "abs(x)": T,
    "max(x, n)": T,
    "pos.sum()": T,
    "torch.sum(pos)": T,
    # tensors whose size depends on data
    "pos": D,
    "pos + 1": D,
    "pos[0:2]": D,
    "x[mask]": D,
    "x[x > 0]": D,
    "x[~mask]": D,
    "x[pos]": D,
    "x.nonzero()": D,
    "torch.nonzero(x)": D,
    "torch.where(x > 0)": D,
    "x.masked_select(mask)": D,
    "torch.unique(x)": D,
    "pos.float()": D,
    "torch.sin(pos)": D,
}


@pytest.mark.parametrize("text", OF)
def test_expressions(text: str) -> None:
    assert kinds_in(SIGNATURE, is_method=True).of(expression(text)) == OF[text]


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("def f(x: torch.Tensor): pass", T),
        ("def f(x: 'Tensor | None'): pass", T),
        ("def f(x: Optional[torch.Tensor] = None): pass", T),
        ("def f(x: nn.Parameter): pass", T),
        ("def f(x: Float[Tensor, 'b c']): pass", T),
        ("def f(x: list[Tensor]): pass", C),
        ("def f(x: Optional[list[Tensor]] = None): pass", C),
        ("def f(x: typing.Optional[typing.Union[tuple[Tensor, Tensor], list[Tensor]]] = None): pass", C),
        ("def f(x: tuple[Tensor, ...] | None = None): pass", C),
        ("def f(x: 'Optional[list[Tensor]]' = None): pass", C),
        ("def f(x: Union[Tensor, list[Tensor]]): pass", T),
        ("def f(x: 'Tensor | list[Tensor]'): pass", T),
        ("def f(x: list[Tensor] | Tensor): pass", T),
        ("def f(x: Optional[int] = None): pass", P),
        ("def f(x: int | str): pass", P),
        ("def f(x: int | list[int]): pass", U),
        ("def f(x: Optional[Any] = None): pass", U),
        ("def f(x: 'not a type'): pass", U),
        ("def f(x: dict[str, torch.Tensor]): pass", C),
        ("def f(x: Sequence[int]): pass", C),
        ("def f(x: int): pass", P),
        ("def f(x: bool = True): pass", P),
        ("def f(x: torch.dtype): pass", P),
        ("def f(x: Any): pass", U),
        ("def f(x): pass", U),
        ("def f(x=None): pass", U),
        ("def f(x=True): pass", P),
        ("def f(x='mean'): pass", P),
        ("def f(*, x=False): pass", P),
        ("def f(*x): pass", C),
        ("def f(**x): pass", C),
        ("def forward(x): pass", T),
        ("def forward(self, x=None): pass", T),
        ("def forward(self, x=3): pass", U),
        ("def forward(self, x: str): pass", P),
    ],
)
def test_parameters(signature: str, expected: Kind) -> None:
    assert parameter_kinds(function(signature), is_method="self" in signature)["x"] == expected


def test_the_object_of_a_method_is_no_tensor() -> None:
    assert parameter_kinds(function("def forward(this, x): pass"), is_method=True) == {"this": U, "x": T}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = x", T),
        ("y: int = x", T),
        ("y = 1\n y = x.sum()", T),
        ("y = x\n y = 1", T),
        ("y = 1\n y += x", T),
        ("y = z\n z = x", T),
        ("y, z = x, 1", T),
        ("z, y = x, 1", P),
        ("y, z = x", T),
        ("y, z = u", U),
        ("y, *z = x", T),
        ("*y, z = x", C),
        ("for y in x: pass", T),
        ("for y in xs: pass", U),
        ("for y in range(n): pass", P),
        ("for y in range(x): pass", S),
        ("for y, z in enumerate(x): pass", P),
        ("for z, y in enumerate(x): pass", T),
        ("for y, z in enumerate(x.nonzero()): pass", S),
        ("for y, z in zip(x, xs): pass", T),
        ("for z, y in zip(x, xs): pass", U),
        ("for y in x.nonzero(): pass", T),
        ("with g() as y: pass", U),
        ("def y(): pass", P),
        ("class y: pass", P),
        ("g(y := x)", T),
        ("y = [i for i in x]", C),
        ("y = x.sum() if n else 0", T),
        # a number that only some data binds
        ("y = 0\n if x.sum() > 0: y = 1", S),
        ("y = 0\n while x.sum() > 0: y += 1", S),
        ("y = 0\n for i in range(x): y = y + 1", S),
        ("y = 1 if x.sum() > 0 else 2", S),
        ("y = 0\n if n: y = 1", P),
        ("y = None\n if x.sum() > 0: y = 'a'", P),
    ],
)
def test_names_join_all_that_is_assigned(body: str, expected: Kind) -> None:
    kinds = kinds_in(f"def f(x: torch.Tensor, n: int, u, xs: list):\n {body}")
    assert kinds.name("y") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = x.sum()", T),
        ("y = torch.relu(x)", T),
        ("y = F.relu(x)", T),
        ("y = torch.stack(x)", U),  # a list of tensors
        ("y = torch.cat(x, dim=0)", U),
        ("y = x.shape", U),
        ("y = x + 1", U),
        ("y = x.keys()", U),
        ("y = torch.is_tensor(x)", U),
        ("y = g(x)", U),
    ],
)
def test_evidence_about_parameters(body: str, expected: Kind) -> None:
    """What is used as only a tensor can be is one."""
    assert kinds_in(f"def f(x):\n {body}").name("x") == expected


def test_annotations_beat_evidence() -> None:
    assert kinds_in("def f(x: list):\n y = x.sort()").name("x") == C


def test_assignments_beat_evidence() -> None:
    kinds = kinds_in("def f(x):\n y = []\n y.append(x)\n return torch.stack(y)")
    assert kinds.name("y") == C


def test_values_from_outside() -> None:
    text = "def f(x):\n y = a + x\n z = b"
    kinds = kinds_in(text, outer={"a": T, "b": P})
    assert (kinds.name("y"), kinds.name("z"), kinds.name("x")) == (T, P, U)


def test_a_local_name_hides_torch() -> None:
    kinds = kinds_in("def f(torch: dict):\n y = torch.zeros(3)")
    assert kinds.torch_path(expression("torch.zeros")) is None
    assert kinds.name("y") != T


@pytest.mark.parametrize(
    ("imports", "text", "expected"),
    [
        ("import torch", "torch.nn.functional.relu", "nn.functional.relu"),
        ("import torch as t", "t.zeros", "zeros"),
        ("import torch.nn.functional as F", "F.relu", "nn.functional.relu"),
        ("import torch.nn.functional", "torch.zeros", "zeros"),
        ("from torch import nn", "nn.functional.relu", "nn.functional.relu"),
        ("from torch.nn import functional as F", "F.relu", "nn.functional.relu"),
        ("from torch import zeros as z", "z", "zeros"),
        ("if a:\n    import torch", "torch.zeros", "zeros"),
        ("import torchvision", "torchvision.ops", None),
        ("import numpy as torch", "torch.zeros", None),
        ("from . import torch", "torch.zeros", None),
        ("import torch", "u.zeros", None),
        ("import torch", "torch.zeros()", None),
    ],
)
def test_torch_paths(imports: str, text: str, expected: str | None) -> None:
    assert Kinds(imports_of(block(imports)), {}).torch_path(expression(text)) == expected


def test_other_modules_are_python() -> None:
    found = imports_of(block("import os.path, numpy as np\nimport torch"))
    assert found.modules == {"os", "np"}
    kinds = Kinds(found, {})
    assert kinds.of(expression("os.sep")) == P
    assert kinds.of(expression("np.array(x)")) == U


@pytest.mark.parametrize(("text", "expected"), [("int(u)", S), ("1 in u", S), ("u > 0", U), ("u is None", P)])
def test_where_the_unknown_counts(text: str, expected: Kind) -> None:
    """The decorator takes what is unknown for a possible tensor."""
    assert kinds_in("def f(u): pass", assume_unknown=True).of(expression(text)) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = 0\n if x.sum() > 0: y = 1", False),
        ("y = 0\n if x.sum() > 0: y = y + 2", False),
        ("y = 0.0\n if x.sum() > 0: y = 1.0", True),
        ("y = False\n if x.sum() > 0: y = True", True),
        ("y = 1\n if x.sum() > 0: y = y / 2", True),
        ("y = 1\n if x.sum() > 0: y /= 2", True),
        ("y = x.sum().item()", True),
        ("y = len(x.nonzero())", False),
        ("y = x.shape[0]", False),
        ("y = x", False),
        ("y = 0.5", False),
    ],
)
def test_fractions(body: str, expected: bool) -> None:
    """Floats and truth values that depend on data must be handed to a branch; integers may be closed over."""
    assert kinds_in(f"def f(x: torch.Tensor):\n {body}").may_be_fraction("y") is expected


def test_nothing_known() -> None:
    kinds = Kinds(Imports(), {})
    kinds.infer(block("y = a"))
    assert kinds.name("y") == kinds.name("z") == U
    assert kinds.names() == {"y": U}


def test_a_module_whose_functions_are_called_is_no_tensor() -> None:
    kinds = kinds_in("def f(x):\n y = torch.abs(x)\n z = torch.is_grad_enabled()")
    assert kinds.name("y") == T
    assert kinds.name("z") == P
