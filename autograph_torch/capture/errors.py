"""torch's own errors, told in the user's terms: our code, the user's line, what to do. The original is `__cause__`."""

from __future__ import annotations

import contextlib
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import replace

from torch._dynamo import exc as dynamo
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from autograph_torch.capture.marks import leading_to
from autograph_torch.capture.policy import POLYFILLS, is_dynamo
from autograph_torch.capture.sites import left_alone_at
from autograph_torch.diagnostics import AutographError, CaptureError
from autograph_torch.runtime.refusal import refusal_at
from autograph_torch.runtime.tracing import is_of_package, is_ours
from autograph_torch.runtime.values import unbound_message, unbound_refusal

# What torch says of a test that only data decides.
LEFT_ALONE = ("Data-dependent branching", "Could not guard on data-dependent expression")
_IN_A_BODY = "This higher order operator doesn't work"  # torch's first line when the next one says what is wrong
_UNKNOWN = "<unknown>"
_REPORT = "report this, please; put the function into one marked with do_not_convert"
_OF_A_BACKEND = "backend="  # torch's first line when one has raised what the next one says
_TRACE_ERRORS = (dynamo.TorchDynamoException, GuardOnDataDependentSymNode, AutographError)
_OF_THE_TRACE = "from user code"  # what the tracer adds to an error
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
_UNBOUND = re.compile(unbound_message(r"(\w+)") + r"|Could not find a local variable with name `(\w+)`")
# What torch says of operators that refuse what they are called with.
_OF_OPERATORS = ("RuntimeError when making fake tensor call", "TypeError when making fake tensor call")
# What torch says of torch.autograd.grad or backward in the body of an operator, where nothing is recorded.
_OPERATOR = re.compile(r"Higher Order Operator|call_function (?:cond|while_loop)|higher_order\.(?:cond|while_loop)")
_GRADIENT = re.compile(
    r"does not require grad and does not have a grad_fn|backward through the graph a second time|"
    r"already consumed grad_fn|differentiated Tensors? .*appears? to not have been used"
)
GRADIENT_IN_A_BODY = (
    "a gradient is computed in a branch or loop on data, where torch records none",
    "compute the loss and its gradient before the test, and choose with `torch.where`",
)
_DEEP = re.compile(r"RecursionError: maximum recursion depth exceeded")
TOO_DEEP = (
    "calls are nested so deep that the stack of the tracer would end: a recursion has to end whatever the data",
    "write it as a loop, or end it by a number that is no data",
)
_SYMBOL = re.compile(r"data-dependent expression|guard on|unbacked|specialized integer", re.IGNORECASE)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn the errors of a failed capture into CaptureError; what the program itself raises passes."""
    try:
        yield
    except _TRACE_ERRORS as error:
        if isinstance(error, AutographError):
            raise
        own = _own_error(error)
        if own is not None:
            raise type(own)(own.diagnostic) from own.__cause__ if raises_whatever_the_data(own) else error
        raise _capture_error(error) from error
    except Exception as error:
        if not is_of_user_code(error) or not (isinstance(error, AssertionError) or _is_of_tracer(error)):
            raise
        raise _capture_error(error) from error  # of the tracer itself, which has met what it does not expect


@contextlib.contextmanager
def own_mistakes() -> Iterator[None]:
    """Turn what this package raises by mistake where it looks at a finished graph into CaptureError."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
        if not is_of_package(_raised_in(error)):
            raise
        said = f"{type(error).__name__}: {error}"
        raise refusal_at(_UNKNOWN, 1, "AG320", f"autograph-torch cannot look at its graph: {said}", _REPORT) from error


def _is_of_tracer(error: Exception) -> bool:
    """Whether Dynamo or this package has raised it, by mistake: no operator of torch, and nothing of the program."""
    filename = _raised_in(error)
    return is_ours(filename) or is_dynamo(filename)


def _raised_in(error: Exception) -> str:
    """The file of the innermost frame that an exception comes from."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame.tb_frame.f_code.co_filename if frame is not None else ""


def _own_error(error: BaseException) -> AutographError | None:
    """An error of ours that torch has wrapped into one of its own."""
    return next((one for one in leading_to(error) if isinstance(one, AutographError)), None)


def _capture_error(error: BaseException) -> CaptureError:
    text = str(error)
    said = [part.strip() for part in text.splitlines() if part.strip()] or [type(error).__name__]
    summary = said[1] if said[0].startswith(_IN_A_BODY) and len(said) > 1 else said[0]
    if summary.startswith(_OF_A_BACKEND):
        summary = " ".join(said[:2])
    reason = next((p.split(":", 1)[1].strip() for p in text.splitlines() if p.strip().startswith("Explanation:")), "")
    unbound = _UNBOUND.search(text)
    if unbound is not None:
        code, message, advice = unbound_refusal(unbound[1] or unbound[2])
    elif _GRADIENT.search(text) and _OPERATOR.search(text):
        code, message, advice = "AG320", *GRADIENT_IN_A_BODY
    elif _DEEP.search(text):
        code, message, advice = "AG320", *TOO_DEEP
    else:
        code = "AG321" if _SYMBOL.search(text) else "AG320"
        message = f"this cannot become part of one graph: {summary}" + (f" ({reason})" if reason else "")
        advice = _advice(code)
    return refusal_at(*user_frame(text, _of_tracer), code, message, advice)


def with_reason(error: CaptureError) -> CaptureError:
    """Where torch has stopped at a statement that was left alone: the error says why it was."""
    found = error.diagnostic
    if found.code not in ("AG320", "AG321") or not any(words in found.message for words in LEFT_ALONE):
        return error
    reason = left_alone_at(found.filename, found.line)
    if reason is None:
        return error
    return CaptureError(replace(reason, message=f"{reason.message}; left as it is, torch.compile refuses it"))


class RaisedOnPath(Exception):
    """What has been raised on the path of a call, which Python comes to, too: the cause of a CaptureError."""


def raises_whatever_the_data(error: AutographError) -> bool:
    """Whether the trace has ended in an exception that the program raises without asking data."""
    cause = error.__cause__
    if isinstance(cause, RaisedOnPath):
        return True
    return isinstance(cause, dynamo.Unsupported) and cause.gb_type == "Observed exception"


def is_of_operator(error: CaptureError) -> bool:
    """Whether an operator has refused what it was called with, by its types and sizes: so it does in Python."""
    cause = error.__cause__
    if isinstance(cause, dynamo.Unsupported):
        return cause.gb_type in _OF_OPERATORS
    return isinstance(cause, dynamo.TorchRuntimeError) or not isinstance(cause, (AssertionError, *_TRACE_ERRORS))


def is_unbound(error: CaptureError) -> bool:
    """Whether a name that has no value is read; on the path of a call, so it is in Python."""
    cause = error.__cause__
    no_global = isinstance(cause, dynamo.Unsupported) and cause.gb_type == "failed to find name in frame builtins"
    return error.diagnostic.code == "AG312" or no_global


def is_of_user_code(error: Exception) -> bool:
    """Whether the tracer has met an error at a line of the program."""
    return _OF_THE_TRACE in str(error)


def raised_on_path(error: Exception) -> CaptureError:
    """The refusal for what torch has raised on the path of a call; its cause is to be a RaisedOnPath."""
    return _capture_error(error)


def capture_error_at(node: Node | None, code: str, message: str, advice: str) -> CaptureError:
    """The refusal of what a node of a finished graph does, at the user's line it comes from."""
    return refusal_at(*user_frame((node and node.meta.get("stack_trace")) or ""), code, message, advice)


def _of_tracer(filename: str) -> bool:
    """Whether it is what Dynamo traces in the place of a function in C (`filter`)."""
    return is_ours(filename) or filename.startswith(POLYFILLS)


def user_frame(text: str, left_out: Callable[[str], bool] = is_ours) -> tuple[str, int]:
    """The innermost frame of the user's in torch's "from user code" section."""
    _, _, user_code = text.partition(_OF_THE_TRACE)
    frames = [(name, int(line)) for name, line, _ in _FRAME.findall(user_code or text)]
    own = [frame for frame in frames if not left_out(frame[0])]
    return own[-1] if own else (frames[-1] if frames else (_UNKNOWN, 1))


def located(error: CaptureError, code: types.CodeType) -> CaptureError:
    """The error at the beginning of the function that is traced, where nothing tells at which line of it.

    So it is where a backend has stopped.
    """
    found = error.diagnostic
    if found.filename != _UNKNOWN:
        return error
    placed = refusal_at(code.co_filename, code.co_firstlineno, found.code, found.message, found.advice)
    placed.__cause__ = error.__cause__
    return placed


def _advice(code: str) -> str:
    if code == "AG321":
        return "keep the value a tensor, or compute the size, index or loop bound from shapes"
    return "move the operation out of the converted function, or put it into one marked with do_not_convert"
