"""Everything the compiler tells a person: codes, texts, and how a message is laid out.

One table, `RULES`, is the source of the messages, of `autograph-torch rule CODE` and of docs/diagnostics.md.
AG1xx: rewritten.  AG2xx: left alone, with the reason.  AG3xx: errors.
"""

from __future__ import annotations

from dataclasses import dataclass

_LONGEST_EXCERPT = 160


@dataclass(frozen=True)
class Rule:
    """One kind of message: what it says in short, why, and an example before and after."""

    code: str
    title: str
    explanation: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Diagnostic:
    """One message about one place in the user's source. Lines and columns count from 1, as editors do."""

    code: str
    filename: str
    line: int
    column: int
    end_line: int
    message: str
    advice: str = ""
    snippet: str = ""

    def render(self) -> str:
        """`file:line:column: CODE message`, the line with a caret, and the advice."""
        parts = [f"{self.filename}:{self.line}:{self.column}: {self.code} {self.message}"]
        if self.snippet.strip():
            snippet, column = _excerpt(self.snippet.rstrip(), self.column)
            parts += [f"    {snippet}", "    " + _caret_indent(snippet, column) + "^"]
        if self.advice:
            parts.append(f"  help: {self.advice}")
        return "\n".join(parts)


def _excerpt(snippet: str, column: int) -> tuple[str, int]:
    """The part of a very long line around a column, and the column in it."""
    if len(snippet) <= _LONGEST_EXCERPT:
        return snippet, column
    start = max(0, min(column - 1, len(snippet)) - _LONGEST_EXCERPT // 2)
    cut = snippet[start : start + _LONGEST_EXCERPT]
    return ("..." + cut if start else cut) + "...", column - start + (3 if start else 0)


def _caret_indent(snippet: str, column: int) -> str:
    """White space as wide as what stands left of the column; tabs stay tabs so that the caret lines up."""
    return "".join("\t" if character == "\t" else " " for character in snippet[: column - 1])


class AutographError(Exception):
    """Base of all errors of this package; shows the user's file, line and a caret."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.render())
        self.diagnostic = diagnostic

    @property
    def code(self) -> str:
        return self.diagnostic.code

    def __reduce__(self) -> tuple[type[AutographError], tuple[Diagnostic]]:
        return type(self), (self.diagnostic,)


class SourceError(AutographError):
    """A file or function whose source cannot be had, decoded or parsed."""


class ConversionError(AutographError):
    """Source that is understood but cannot be rewritten soundly."""


class CaptureError(AutographError):
    """The rewritten program could not be captured as one graph; the tracer's own error is `__cause__`."""


class OnePathWarning(RuntimeWarning):
    """The graph is for calls whose data take the same path as those of the call that it was made in.

    It says what could not become part of a graph for all data. As an error (`warnings.simplefilter("error",
    OnePathWarning)`) it has that raised as a CaptureError.
    """


_RULES = (
    Rule(
        "AG101",
        "`if` on a tensor becomes ag.cond",
        "The test may be a tensor. Both branches become functions of the values they read, and the names that are used "
        "later become their results.",
        "if x.sum() > 0:\n    y = x + 1\nelse:\n    y = x - 1",
        "y = ag.cond(x.sum() > 0, lambda: x + 1, lambda: x - 1)",
    ),
    Rule(
        "AG102",
        "early return becomes a branch",
        "What follows an early return moves into the other branch, so that both branches end in a result.",
        "if x.sum() > 0:\n    return x\nreturn -x",
        "return ag.cond(x.sum() > 0, lambda: x, lambda: -x)",
    ),
    Rule(
        "AG103",
        "`while` on a tensor becomes ag.while_loop",
        "Names that change in the body and are needed by the next trip or after the loop become the carry.",
        "while x.norm() > 1:\n    x = x / 2",
        "(x,) = ag.while_loop(lambda x: x.norm() > 1, lambda x: (x / 2,), (x,))",
    ),
    Rule(
        "AG104",
        "`for` becomes ag.for_loop",
        "The number of trips depends on data: a `range` with a tensor bound, or sizes that come from data.",
        "for i in range(n):\n    x = x * 2",
        "(x,) = ag.for_loop(ag.range(n), lambda i, x: (x * 2,), (x,))",
    ),
    Rule(
        "AG105",
        "`break`, `continue` or `return` under a tensor test becomes a step of the loop",
        "A step says how it ends: `loop.next(...)` goes on with the next trip, `loop.stop(...)` leaves the loop, "
        "`loop.exit(value)` returns from the function.",
        "for i in range(10):\n    x = x / 2\n    if x.norm() < 1:\n        break",
        "def step(i, x, loop):\n    x = x / 2\n"
        "    return ag.cond(x.norm() < 1, lambda: loop.stop(x), lambda: loop.next(x))\n"
        "(x,) = ag.for_steps(range(10), step, (x,))",
    ),
    Rule(
        "AG106",
        "conditional expression becomes ag.cond",
        "`a if p else b` with a tensor test.",
        "y = x if x.sum() > 0 else -x",
        "y = ag.cond(x.sum() > 0, lambda: x, lambda: -x)",
    ),
    Rule(
        "AG107",
        "`and`, `or`, `not` or a chained comparison on tensors becomes a call",
        "Python would ask a tensor for its truth value. The right operand stays lazy.",
        "if x.any() and y.any():",
        "ag.and_(x.any(), lambda: y.any())",
    ),
    Rule(
        "AG108",
        "`any(...)`, `all(...)` or a filtered `sum(...)` over tensors becomes ag.any_, ag.all_ or ag.sum_",
        "The built-in functions ask every element for its truth value, and a filter (`sum(e for e in x if e > 0)`) "
        "asks, too.",
        "any(t.isnan().any() for t in xs)",
        "ag.any_(t.isnan().any() for t in xs)",
    ),
    Rule(
        "AG109",
        "torch.equal, torch.allclose, torch.is_nonzero and `in` become calls",
        "torch answers them with a Python bool, which needs the data while tracing.",
        "if torch.equal(x, y):",
        "ag.equal(x, y)",
    ),
    Rule(
        "AG110",
        "a call for its effect becomes ag.effect",
        "print, warnings.warn and log calls run when the graph comes to them, in order.",
        'print(f"loss {loss:.3f}")',
        'ag.effect(print, ag.text("loss {:.3f}", loss))',
    ),
    Rule(
        "AG111",
        "an assertion about tensors becomes a check in the graph",
        "It raises AssertionError with its message when the graph comes to it.",
        "assert ok.all(), 'not ok'",
        "ag.cond(ag.not_(ok.all()), lambda: ag.fail(AssertionError, 'not ok'))",
    ),
    Rule(
        "AG112",
        "a loop with gradients needs a setting of Inductor",
        "Only with --target torch. Inductor (torch 2.13) may reuse buffers that the backward pass of a loop still "
        "needs; its gradients are wrong then, without an error. The file turns that off when it is imported. Under "
        "torch.no_grad() nothing is needed.",
        "while x.norm() > 1:\n    x = x / 2",
        "torch._inductor.config.inplace_buffers = False",
    ),
    Rule(
        "AG113",
        "a number that depends on data is computed in the graph",
        "Functions of `math` that torch.compile does not take for such numbers, and `tolist` of floats.",
        "math.exp(-loss.item())",
        "ag.math.exp(-loss.item())",
    ),
    Rule(
        "AG114",
        "a number read from a tensor is read later, or never",
        "The text of `x.item()`, `float(x)`, `int(x)` and `bool(x)` stays. In the graph the number is a tensor as long "
        "as tensors, tests and texts are all that need it. What is returned is read when the graph has returned; "
        "sizes, indices and arithmetic that may raise read it where it stands. `explain` tells which it was.",
        "total += loss.item()\nreturn total",
        "total += loss.item()\nreturn total",
    ),
    Rule(
        "AG201",
        "left alone: a statement in the branch cannot be moved into a function",
        "`yield`, `await` and `import *` belong to the function they stand in.",
    ),
    Rule(
        "AG202",
        "left alone: jump out of `with` or `try`",
        "A `return`, `break` or `continue` under a tensor test inside `with` or `try` needs what follows the block to "
        "move into it, which would change what the block covers.",
    ),
    Rule(
        "AG203",
        "left alone: too many paths",
        "Jumps under tensor tests would have copied the rest of the block too often.",
    ),
    Rule(
        "AG204",
        "left alone: `del` of a name that other functions see",
        "A `global` or `nonlocal` name that a branch deletes cannot be the result of the branch.",
    ),
    Rule(
        "AG205",
        "left alone: writes to a name of an outer scope",
        "`global` and `nonlocal` names that change under a tensor test cannot become the result of a branch.",
    ),
    Rule(
        "AG206",
        "left alone: a write that cannot be a result",
        "A branch writes to an object in a way that cannot be undone when the branch is not taken.",
    ),
    Rule(
        "AG207",
        "left alone: a branch raises",
        "An exception under a tensor test needs an effect in the graph. And what a block has bound before it raises, a "
        "handler around cannot read from the function that is made of the block; a trace hands it on, so this is said "
        "of files, and of what Python runs.",
    ),
    Rule(
        "AG208",
        "left alone: someone asks for it",
        "`# autograph: skip`, `off` ... `on`, `skip-file`, or do-not-convert.",
    ),
    Rule(
        "AG251",
        "left alone: torch's own operators cannot express it",
        "Only with --target torch. torch.cond and torch.while_loop need results of one static type and no effects; "
        "what the runtime of the default target adds is not there.",
    ),
    Rule(
        "AG252",
        "left alone: a type is not known",
        "Only with --target torch. Dtype and rank of what a branch or loop gives must be known; the text does not say "
        "them, and no example has shown them. `convert --target torch --example module:function` runs a function "
        "without arguments that calls the code, and uses the types that it sees.",
    ),
    Rule("AG290", "left alone: it cannot be printed", "Too deeply nested, or a change inside an f-string."),
    Rule("AG390", "internal error", "The compiler met something it should not; please report it with the file."),
    Rule("AG301", "the file cannot be read or parsed", "Encoding, null bytes, or a syntax error."),
    Rule("AG302", "no source", "Built-in functions, C functions, and functions made by `exec` without a source line."),
    Rule(
        "AG303",
        "unknown directive",
        "A `# autograph:` comment that says none of: skip, off, on, skip-file; or that stands where it means nothing.",
    ),
    Rule("AG304", "unknown target", "What to_source and the command line can write."),
    Rule(
        "AG305",
        "the settings are wrong",
        "`[tool.autograph-torch]` in pyproject.toml takes the names of the flags; the message lists them.",
    ),
    Rule(
        "AG330",
        "the example cannot be used",
        "`--example module:function` and `--verify module:function` run a function without arguments that calls the "
        "code. It must run as it is, before anything is rewritten.",
    ),
    Rule(
        "AG331",
        "the rewritten code does something else",
        "`--verify module:function` has run the original and the rewritten code, and they differ in a result, in what "
        "is printed, in an exception, or in an argument that a call has changed.",
    ),
    Rule(
        "AG310",
        "the two branches cannot be reconciled",
        "Values of a branch that are used afterwards need one static type: the same number of values, each with one "
        "dtype and one rank. What the function returns may be of two types.",
    ),
    Rule("AG311", "a value changes its shape in a loop", "What a loop carries keeps its shape from trip to trip."),
    Rule("AG312", "a name may be undefined", "A name that only one branch binds is read afterwards."),
    Rule(
        "AG313",
        "a predicate needs exactly one element",
        "The truth value of a tensor of several elements is ambiguous.",
    ),
    Rule(
        "AG314",
        "a write to a result would be lost",
        "torch's operators hand out copies: a result that may be a tensor, list or dict from before is not written to, "
        "nor that object, while the other is in use.",
    ),
    Rule("AG320", "the tracer refused", "Something besides control flow keeps torch from capturing one graph."),
    Rule(
        "AG322",
        "a tensor with a gradient cannot be printed",
        "Eager prints its grad_fn, which the graph does not have. In the message of an exception it is refused when "
        "the exception is raised.",
    ),
    Rule(
        "AG324",
        "a value cannot be handed to an effect",
        "Calls like print are made when the graph has run. An object whose content may have changed then is refused, "
        "unless Python code makes its text of its attributes. In the message of an exception that is said when it is "
        "raised.",
    ),
    Rule(
        "AG325",
        "an exception that data decides on inside `try` or `with`",
        "The graph raises when it runs; `except` and `finally` of the function have no part in it. What the same "
        "function handles becomes a jump to the handlers where it can. Else, under @autograph and with fullgraph=True, "
        "the call is run once more in Python, unless its effects are dropped or have been seen already.",
    ),
    Rule(
        "AG326",
        "a gradient of a gradient through a compiled branch or loop",
        "torch's compiled graphs have first derivatives only; the backend `eager` has all.",
    ),
    Rule(
        "AG327",
        "a branch or loop inside a transform of torch.func",
        "torch's operators with bodies have no rules for torch.func.grad, vjp, jvp, jacrev and torch.vmap. "
        "torch.autograd.grad takes their gradients, also inside of a converted function.",
    ),
    Rule(
        "AG328",
        "a function has as many graphs as torch makes of one",
        "torch makes a new graph where something that was a constant has changed between two calls: a text, how long a "
        "list is, which object an attribute holds. At `torch._dynamo.config.recompile_limit` (8) it ends. Under "
        "`@autograph` calls for which there is no graph then run in Python, and a RuntimeWarning says so once.",
    ),
    Rule(
        "AG323", "random numbers in a branch or loop with gradients", "torch runs the body again for the backward pass."
    ),
    Rule(
        "AG321", "a value depends on data where the tracer needs a fixed number", "Sizes, indices and loops of Python."
    ),
)

# What is compiled otherwise, although its text stays: reasons in a diff that has others, not counted as rewritten.
NOTES = ("AG114",)

RULES: dict[str, Rule] = {rule.code: rule for rule in _RULES}
