"""Strings with values of the graph in them are put together when the graph runs. Part of passes/effects.py.

    f"loss {loss:.3f}"                     ag.text("loss {:.3f}", loss)
    "loss %.3f" % loss                     ag.percent("loss %.3f", loss)
    "loss {:.3f}".format(loss)             ag.text("loss {:.3f}", loss)
    "loss " + str(loss) + "!"              ag.text("{}{}{}", "loss ", ag.text("{!s}", loss), "!")
    ", ".join(str(v) for v in values)      ag.joined(", ", (ag.text("{!s}", v) for v in values))

    message += f"big {n}"                  message = ag.text("{}{}", message, ag.text("big {}", n))
    "#" * n                                ag.repeated("#", n)
    "yes" if done else f"no, {n}"          ag.choice(done, "yes", ag.text("no, {}", n))
    message = None                         as it is, where `message` is a text elsewhere, and is asked for `is None`
    for line in lines: print(line)         as it is, where `lines` is a list of texts
    raise ValueError(f"bad {n}")           raise ValueError(ag.text("bad {}", n)), also of an exception made before
    print(x.tolist())                      print(ag.shown_list(x)), of a size that may depend on data

Only where a string goes to an effect or an exception and nowhere else, by way of local names too: outside of the graph
`ag.text` gives a string, inside something that only an effect can use.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from autograph_torch.analysis.facts import Facts, makes_a_list
from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.scopes import COMPREHENSIONS, walk_scope
from autograph_torch.passes.text_lists import additions, elements, lists_of_texts, sources_of_elements
from autograph_torch.source.nodes import children, derive, is_none, name, rebuild, replace, walk
from autograph_torch.source.templates import constant, runtime_call

_PLAIN = (
    *(gast.Name, gast.Constant, gast.JoinedStr, gast.FormattedValue, gast.IfExp),
    *(gast.Compare, gast.UnaryOp, gast.USub, gast.cmpop, gast.expr_context, gast.keyword),
)
_PLAIN_FUNCTIONS = frozenset("float str repr round format".split())
_PLAIN_METHODS = frozenset("item sum mean norm".split())
_DISPLAYS = (gast.Tuple, gast.List, gast.Dict, gast.Starred, gast.IfExp)


class Texts:
    """The strings of one function that only effects use."""

    def __init__(self, facts: Facts, names: frozenset[str] = frozenset(), lists: frozenset[str] = frozenset()) -> None:
        self._facts = facts
        self._names = names
        self.lists = lists

    def argument(self, node: gast.expr) -> gast.expr:
        """An argument of an effect, with its texts rewritten."""
        if self.is_text(node):
            return self._text(node)
        if makes_a_list(node):
            return replace(node, runtime_call("shown_list", node.func.value))
        whole = isinstance(node, (*_DISPLAYS, *COMPREHENSIONS)) or makes_exception(node)
        return rebuild(node, self._inner) if whole else node

    def _inner(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.keyword):
            return rebuild(node, self._inner)
        return self.argument(node) if isinstance(node, gast.expr) else node

    def is_text(self, node: gast.expr) -> bool:
        """Whether an expression builds a string of values that may depend on data."""
        if isinstance(node, gast.Name):
            return node.id in self._names
        if isinstance(node, gast.IfExp):
            return self._facts.may_be_tensor(node.test) and all(self._is_plain(arm) for arm in (node.body, node.orelse))
        if isinstance(node, gast.JoinedStr):
            formatted = [part for part in node.values if not isinstance(part, gast.Constant)]
            return self._any_data(
                [part.value for part in formatted] + [inner for p in formatted for inner in _in_spec(p)]
            )
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mod):
            return self._is_template(node.left, node.right) and self._any_data([node.right])
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add):
            return self.is_text(node.left) or self.is_text(node.right)
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
            return any(_is_string(one) and self._may_hold_data(other) for one, other in _both_ways(node))
        if not isinstance(node, gast.Call):
            return False
        if _is_method(node, "format"):
            return self._any_data([*node.args, *(keyword.value for keyword in node.keywords)])
        if _is_method(node, "join") and len(node.args) == 1:
            return self._builds_texts(node.args[0])
        return _is_conversion(node) and self._any_data(node.args)

    def without(self, name: str) -> Texts:
        """The same texts, but for this name."""
        return Texts(self._facts, self._names - {name}, self.lists)

    def is_some_text(self, values: Iterable[gast.expr]) -> bool:
        return any(map(self.is_text, values))

    def are_texts(self, values: Iterable[gast.expr]) -> bool:
        """Whether values are texts, or stand in for one where there is none: `message = None`."""
        return all(map(self._may_be_kept, values))

    def _may_be_kept(self, value: gast.expr) -> bool:
        return is_none(value) or self.is_text(value) or _is_string(value) or isinstance(value, gast.JoinedStr)

    def is_named(self, node: gast.expr) -> bool:
        """Whether an expression is the name of a text, or of a list of texts."""
        return isinstance(node, gast.Name) and (node.id in self._names or node.id in self.lists)

    def is_never_empty(self, node: gast.expr) -> bool:
        """Whether a text has characters that no data decide."""
        if isinstance(node, gast.JoinedStr):
            return any(isinstance(part, gast.Constant) and part.value for part in node.values)
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add):
            return any(map(self.is_never_empty, (node.left, node.right)))
        return isinstance(node, gast.Constant) and bool(node.value)

    def is_longer(self, node: gast.AST) -> bool:
        """Whether a statement makes a text longer: `message += text`."""
        return isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and self.is_text(node.target)

    def longer(self, node: gast.AugAssign) -> gast.stmt:
        """Such a statement rewritten."""
        value = runtime_call("text", constant("{}{}"), name(node.target.id), self.argument(node.value))
        return replace(node, gast.Assign(targets=[node.target], value=value, type_comment=None))

    def _is_template(self, left: gast.expr, right: gast.expr) -> bool:
        """Whether `left % right` puts a string together, and is no arithmetic."""
        if _is_string(left):
            return True
        rest = self._facts.function.args.vararg
        several = isinstance(right, (gast.Tuple, gast.Dict)) or (
            isinstance(right, gast.Name) and rest is not None and right.id == rest.id
        )
        return several and isinstance(left, (gast.Name, gast.Attribute))

    def _is_plain(self, arm: gast.expr) -> bool:
        """Whether an arm of a conditional expression is a string, and made of what can as well be made in vain."""
        string = _is_string(arm) or isinstance(arm, gast.JoinedStr) or self.is_text(arm)
        return string and self._is_made_in_vain(arm)

    def _is_made_in_vain(self, node: gast.AST) -> bool:
        """Whether an expression does nothing but give a value, and cannot fail: it names no property and no element."""
        if isinstance(node, gast.Attribute):
            return self._facts.kinds.of(node) != Kind.UNKNOWN
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
            owner, method = node.func.value, node.func.attr
            plain = method in _PLAIN_METHODS and self._facts.kinds.of(owner) >= Kind.TENSOR
            if not plain and not (method == "format" and _is_string(owner)):
                return False
            return all(map(self._is_made_in_vain, [owner, *node.args, *node.keywords]))
        if isinstance(node, gast.Call):
            plain = isinstance(node.func, gast.Name) and node.func.id in _PLAIN_FUNCTIONS
            return plain and all(map(self._is_made_in_vain, [*node.args, *node.keywords]))
        return isinstance(node, _PLAIN) and all(map(self._is_made_in_vain, children(node)))

    def _builds_texts(self, node: gast.expr) -> bool:
        if isinstance(node, gast.Name):
            return node.id in self.lists
        if isinstance(node, COMPREHENSIONS) and not isinstance(node, gast.DictComp):
            return self.is_text(node.elt)
        return isinstance(node, (gast.List, gast.Tuple)) and any(self.is_text(one) for one in node.elts)

    def _any_data(self, values: Iterable[gast.expr]) -> bool:
        return any(self._may_hold_data(value) for value in values)

    def _may_hold_data(self, node: gast.expr) -> bool:
        if isinstance(node, (gast.Tuple, gast.List)):
            return any(self._may_hold_data(one) for one in node.elts)
        if isinstance(node, gast.Dict):
            return any(self._may_hold_data(one) for one in node.values)
        return self._facts.kinds.of(node) != Kind.PYTHON or self.is_text(node)

    # -- rewriting ----------------------------------------------------------------------------------------------------

    def _text(self, node: gast.expr) -> gast.expr:
        if isinstance(node, gast.Name):
            return node
        if isinstance(node, gast.IfExp):
            arms = [self.argument(arm) for arm in (node.body, node.orelse)]
            return replace(node, runtime_call("choice", node.test, *arms))
        if isinstance(node, gast.JoinedStr):
            return replace(node, self._formatted(node))
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mod):
            return replace(node, runtime_call("percent", node.left, self.argument(node.right)))
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
            pair = (node.left, node.right) if _is_string(node.left) else (node.right, node.left)
            return replace(node, runtime_call("repeated", *pair))
        if isinstance(node, gast.BinOp):
            sides = [self.argument(side) for side in self._summands(node)]
            return replace(node, runtime_call("text", constant("{}" * len(sides)), *sides))
        assert isinstance(node, gast.Call)
        if _is_method(node, "join"):
            return replace(node, runtime_call("joined", node.func.value, self.argument(node.args[0])))
        arguments = [self.argument(argument) for argument in node.args]
        if _is_method(node, "format"):
            new = runtime_call("text", node.func.value, *arguments)
            new.keywords = [derive(keyword, value=self.argument(keyword.value)) for keyword in node.keywords]
            return replace(node, new)
        return replace(node, runtime_call("text", constant("{!s}" if node.func.id == "str" else "{!r}"), *arguments))

    def _summands(self, node: gast.expr) -> list[gast.expr]:
        """What `a + b + c` is put together from; strings that a sum has in front stay one."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add) and self.is_text(node):
            return [*self._summands(node.left), *self._summands(node.right)]
        return [node]

    def _formatted(self, node: gast.JoinedStr) -> gast.expr:
        template, values = "", []
        for part in node.values:
            if isinstance(part, gast.Constant):
                template += _escaped(part.value)
                continue
            conversion = f"!{chr(part.conversion)}" if part.conversion != -1 else ""
            values.append(self.argument(part.value))
            spec = ""
            for piece in part.format_spec.values if part.format_spec is not None else ():
                if isinstance(piece, gast.Constant):
                    spec += str(piece.value)
                else:
                    spec += "{" + (f"!{chr(piece.conversion)}" if piece.conversion != -1 else "") + "}"
                    values.append(piece.value)
            template += "{" + conversion + (f":{spec}" if spec else "") + "}"
        return runtime_call("text", constant(template), *values)


def texts_of(function: gast.FunctionDef, facts: Facts, positions: Iterable[gast.expr]) -> Texts:
    """The texts of a function whose effects and exceptions have the arguments `positions`.

    What is not refuted is a text: `label = label + "!"` is one when `label` is.
    """
    positions, values, sources = list(positions), _values_of_names(function), sources_of_elements(function)
    names = frozenset(values).union(sources)
    lists = frozenset(call.func.value.id for call in additions(function))
    bound = {name: [*values.get(name, ()), *_added_to(sources.get(name, frozenset()), function)] for name in names}
    while True:
        texts = Texts(facts, names, lists)
        shown = _shown_nodes(function, texts, positions)
        left = frozenset(
            name
            for name in names
            if (sources.get(name, lists) <= lists and texts.are_texts(values.get(name, ())))
            if name in sources or texts.without(name).is_some_text(values[name])
            if _only_shown(name, function, shown | _asked_nodes(function, texts, bound[name]))
        )
        left_lists = lists & lists_of_texts(function, texts.is_text, shown, names)
        if (left, left_lists) == (names, lists):
            return texts
        names, lists = left, left_lists


def _added_to(lists: frozenset[str], function: gast.FunctionDef) -> list[gast.expr]:
    """What is appended to lists of these names, and so what a loop over one of them binds its variable to."""
    return [value for call in additions(function) if call.func.value.id in lists for value in call.args]


def _shown_nodes(function: gast.FunctionDef, texts: Texts, positions: list[gast.expr]) -> set[int]:
    """The expressions, by identity, in arguments of effects and in texts that are only shown, too."""
    values = [*positions, *(assignment.value for assignment in text_values(function, texts))]
    values += [node.value for node in walk(function) if texts.is_longer(node)]
    return {id(node) for value in values for node in _text_parts(value)}


def _asked_nodes(function: gast.FunctionDef, texts: Texts, values: Iterable[gast.expr]) -> set[int]:
    """The names, by identity, that are asked whether there is a text: `message is None`.

    Also `if message`, where each of the values is a string of the program, None, or a text that is never empty.
    """
    nodes = list(walk(function))
    asked = {id(node.left) for node in nodes if isinstance(node, gast.Compare) and _is_compared_to_none(node)}
    if all(isinstance(value, gast.Constant) or texts.is_never_empty(value) for value in values):
        asked.update(id(test) for node in nodes for test in _tests_in(node))
    return asked


def _is_compared_to_none(node: gast.Compare) -> bool:
    right = node.comparators[0]
    return len(node.ops) == 1 and isinstance(node.ops[0], (gast.Is, gast.IsNot)) and is_none(right)


def _tests_in(node: gast.AST) -> Iterable[gast.expr]:
    """The expressions of which a node asks the truth, and nothing else."""
    if isinstance(node, (gast.If, gast.IfExp, gast.While)):
        return _operands_of(node.test)
    return [node.operand] if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not) else []


def _operands_of(test: gast.expr) -> Iterable[gast.expr]:
    """The operands of `a and b or c`, which stands for its truth."""
    if isinstance(test, gast.BoolOp):
        return [inner for value in test.values for inner in _operands_of(value)]
    return [test]


def _both_ways(node: gast.BinOp) -> tuple[tuple[gast.expr, gast.expr], ...]:
    return (node.left, node.right), (node.right, node.left)


def makes_exception(node: gast.AST) -> bool:
    """Whether an expression calls the class of an exception or warning, as far as its name shows."""
    if not isinstance(node, gast.Call):
        return False
    last = node.func.id if isinstance(node.func, gast.Name) else getattr(node.func, "attr", "")
    return last[:1].isupper() and last.endswith(("Error", "Warning", "Exception"))


def text_values(function: gast.FunctionDef, texts: Texts) -> list[gast.Assign]:
    """The assignments that give text names their value."""
    return [
        node
        for node in walk_scope(function.body)
        if isinstance(node, gast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], gast.Name)
        and texts.is_text(node.targets[0])
    ]


def _values_of_names(function: gast.FunctionDef) -> dict[str, list[gast.expr]]:
    """What names are bound to that are only ever bound by assignments, `+=` among them, and by loops over lists."""
    bound: dict[str, list[gast.expr]] = {}
    plain: set[int] = {id(target) for target, _ in elements(function)}
    for node in walk_scope(function.body):
        if isinstance(node, gast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Name):
            plain.add(id(node.targets[0]))
            bound.setdefault(node.targets[0].id, []).append(node.value)
        if isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add) and isinstance(node.target, gast.Name):
            plain.add(id(node.target))
            bound.setdefault(node.target.id, []).append(node.value)
    stored = [n for n in walk(function) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)]
    other = {node.id for node in stored if id(node) not in plain}
    declared = [node for node in walk(function) if isinstance(node, (gast.Global, gast.Nonlocal))]
    other |= {name for node in declared for name in node.names}
    return {name: values for name, values in bound.items() if name not in other}


def _only_shown(name: str, function: gast.FunctionDef, shown: set[int]) -> bool:
    """Whether every use of a name is in an argument of an effect, or in a text that is only shown, too."""
    loads = [n for n in walk(function) if isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Load)]
    return all(id(node) in shown for node in loads)


def _text_parts(node: gast.expr) -> Iterable[gast.AST]:
    """The node, and the operands that stay texts when it is rewritten."""
    yield node
    if isinstance(node, _DISPLAYS) or (isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Mod))):
        for child in gast.iter_child_nodes(node):
            if isinstance(child, gast.expr):
                yield from _text_parts(child)
    elif isinstance(node, gast.JoinedStr):
        for part in node.values:
            if isinstance(part, gast.FormattedValue):
                yield from _text_parts(part.value)
    elif isinstance(node, gast.Call) and (_is_method(node, "format") or _is_conversion(node) or makes_exception(node)):
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            yield from _text_parts(argument)


def _is_string(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, str)


def _is_method(node: gast.Call, method: str) -> bool:
    """`"...".method(...)`; also of a template that has a name, when only strings have the method."""
    if not isinstance(node.func, gast.Attribute) or node.func.attr != method:
        return False
    return _is_string(node.func.value) or (
        method == "format" and isinstance(node.func.value, (gast.Name, gast.Attribute))
    )


def _is_conversion(node: gast.Call) -> bool:
    """`str(value)` or `repr(value)`."""
    return (
        isinstance(node.func, gast.Name)
        and node.func.id in ("str", "repr")
        and len(node.args) == 1
        and not node.keywords
    )


def _in_spec(part: gast.FormattedValue) -> list[gast.expr]:
    pieces = part.format_spec.values if part.format_spec is not None else []
    return [piece.value for piece in pieces if isinstance(piece, gast.FormattedValue)]


def _escaped(value: object) -> str:
    return str(value).replace("{", "{{").replace("}", "}}")
