"""Which tensors from around a body share memory, and which of them it writes to. Real Python, while Dynamo traces.

A body of an operator is a graph of its own. A tensor from around it enters as an input of that graph when it is first
used (private: SubgraphTracer.lifted_freevars). As Dynamo does, a write is told by the version of the input's fake
tensor (private: `_input_versions_at_beginning`); here before Dynamo looks and complains.
tests/capture/test_standing_in.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch._prims_common import is_contiguous_or_false
from torch.fx.experimental.symbolic_shapes import is_concrete_int, statically_known_true

from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal

# (elements of the memory, or -1: it is the tensor itself; members; whether it is written to). A member: its index among
# the tensors, where it lies in the memory (size, stride, offset), and the index of the first that is the same object.
Group = tuple[int, tuple[tuple[int, Any, Any, Any, int], ...], bool]


OURS = "autograph_torch_operator"  # in the `meta` of an operator of the graph that the runtime has put there
HANDED_ON = "autograph_torch_handed_on"  # in the `meta` of what the runtime has made of a result of one
WRITTEN_BACK = "autograph_torch_written_back"  # in the `meta` of a `copy_` of such a result
WRITTEN_LEAVES = "autograph_torch_written_leaves"  # in the `meta` of a torch.while_loop
STAND_IN_OF = "autograph_torch_stand_in_of"  # in the `meta` of the node of a stand-in: the (fake) tensor it stands for
EITHER_OF = "autograph_torch_either_of"  # in the `meta` of a node: the (fake) tensors of which eager has one there
_COPY = "autograph_torch_copy"  # in the `meta` of the node of a copy from which the stand-ins of bodies begin
_OF_LEAF = "autograph_torch_of_leaf"  # in the `meta` of the node of a stand-in: whether it stands, at last, for a leaf
_VERSIONS = "_autograph_versions"  # of a tracer: by node, the version of its stand-in when it was put there
TRIP = "_autograph_trip_of"  # of a tracer: the site, when it traces a trip of a loop


@dataclass
class Used:
    """A tensor from around a body that the body uses."""

    proxy: Any
    written: bool = False

    @property
    def fake(self) -> torch.Tensor:
        return self.proxy.node.meta["example_value"]  # type: ignore[no-any-return]


def used_at(site: str) -> dict[Any, Used]:
    """What the bodies of a site use from around them, by node."""
    return tracing.notebook().setdefault((site, "used"), {})


def recall(site: str) -> None:
    """The site is about to be traced anew: what its bodies have used before, they will use again.

    So the bodies of a body that is traced twice are not. What an earlier trace did by another way costs a copy at most.
    """
    before = used_at(site)
    again = [(tracing.renewed(used.proxy), used) for used in before.values()]
    before.clear()
    before.update({proxy.node: Used(proxy, used.written) for proxy, used in again if proxy is not None})


def note_use(site: str, proxy: Any, is_written: bool) -> None:
    used = used_at(site).setdefault(proxy.node, Used(proxy))
    used.written = used.written or is_written


def note_body(site: str) -> None:
    """At the end of a body: remember what it has used and written to."""
    tracer = tracing.current_tracer()
    _refuse_writes_with_gradient(tracer)
    leaves = _written_leaves(tracer)
    tracing.written_leaves(site).update(dict.fromkeys(leaves))
    statistics = _running_statistics(tracer)
    changed = _written_inputs(tracer) | {node for node in statistics if node.op == "placeholder"}
    for used in used_at(site).values():
        used.written = used.written or _is_written_copy(tracer, used, statistics)
    for outer, inner in tracer.lifted_freevars.items():
        if isinstance(outer.node.meta.get("example_value"), torch.Tensor) and _COPY not in outer.node.meta:
            note_use(site, outer, inner.node in changed)
    if leaves or groups_of(site) != tracing.notebook().get((site, "groups"), ()):
        _make_harmless(tracer, changed | set(leaves.values()))


def note_copies(copies: tuple[Any, ...], tracer: Any) -> None:
    """A body is about to begin with these. Those from around it are known to nobody else: they need no stand-ins."""
    for proxy in copies:
        if proxy.tracer is not tracer:
            proxy.node.meta[_COPY] = True


def put_stand_in(tracer: Any, original: Any, copy: Any) -> None:
    """In a body, a copy takes the place of a tensor from around it (of a node)."""
    tracing.stand_ins(tracer)[original] = copy
    copy.node.meta[STAND_IN_OF] = original.meta["example_value"]
    copy.node.meta[_OF_LEAF] = _is_leaf(original)
    tracer.__dict__.setdefault(_VERSIONS, {})[original] = _version(copy.node)


def _is_written_copy(tracer: Any, used: Used, statistics: set[Any]) -> bool:
    """Whether the body has written to what stands for a tensor; it may be known as one that is only read."""
    original = tracing.resolved(used.proxy, tracer.parent).node
    copy = tracing.stand_ins(tracer).get(original)
    if copy is None:
        return False
    return copy.node in statistics or _version(copy.node) != tracer.__dict__[_VERSIONS][original]


def _version(node: Any) -> int:
    fake: torch.Tensor = node.meta["example_value"]
    return 0 if fake.is_inference() else fake._version


def mark_operator(name: str) -> Any:
    """Leave a note with the newest torch.cond or torch.while_loop in the graph that is being built."""
    node = next(node for node in reversed(tracing.nodes()) if getattr(node.target, "__name__", "") == name)
    node.meta[OURS] = True
    return node


def mark_handed_on() -> None:
    """Leave a note with what the runtime has just made of the results of the newest operator (runtime/codec.py).

    That is: without a gradient; as the integers that have travelled as floats.
    """
    operator = next(node for node in reversed(tracing.nodes()) if OURS in node.meta)
    found = list(operator.users)
    while found:
        made = [user for user in found.pop().users if user.target in ("detach", "view", "to")]
        found += made
        for node in made:
            node.meta[HANDED_ON] = True


def mark_written_back() -> None:
    """Leave a note with the newest `copy_`: the new content of a tensor that the bodies of an operator write to."""
    next(node for node in reversed(tracing.nodes()) if node.target == "copy_").meta[WRITTEN_BACK] = True


def mark_loop(site: str) -> None:
    """Leave a note with the loop in the graph that is being built: which of its carry it writes to."""
    mark_operator("while_loop").meta[WRITTEN_LEAVES] = tuple(tracing.written_leaves(site))


def written_leaves(loop: Any) -> tuple[int, ...]:
    """The positions of the tensors in the carry of a loop of the graph that its trips write to."""
    return tuple(loop.meta.get(WRITTEN_LEAVES, ()))


def groups_of(site: str) -> tuple[Group, ...]:
    """The tensors that need stand-ins, by memory; alone where only read (and hence given a copy each)."""
    groups: list[Group] = []
    index = 0
    for together in _sharing(site):
        if any(used.written for used in together):
            groups.append(_written_group(together, index))
        else:
            groups += [(-1, ((index + k, (), (), 0, index + k),), False) for k in range(len(together))]
        index += len(together)
    return tuple(groups)


def needed_at(site: str) -> list[Used]:
    """The tensors that need stand-ins, in the order of the groups."""
    return [used for together in _sharing(site) for used in together]


def leaves_at(site: str) -> tuple[bool, ...]:
    """For every tensor that needs a stand-in, whether it is a leaf whose gradient is recorded, or stands for one."""
    return tuple(_is_leaf(used.proxy.node) for used in needed_at(site))


def _is_leaf(node: Any) -> bool:
    fake = node.meta["example_value"]
    return bool(node.meta.get(_OF_LEAF) or (fake.is_leaf and fake.requires_grad))


def _refuse_writes_with_gradient(tracer: Any) -> None:
    """A leaf is written to under no_grad only, which leaves its copy's place in the differentiable graph as it was."""
    for node in tracer.graph.nodes:
        if node.meta.get(_OF_LEAF):
            step = node.meta["example_value"].grad_fn
            if step is not None and not step.name().startswith("Clone"):
                raise_refusal(
                    "AG206",
                    "a branch or loop writes to a parameter, or to another leaf whose gradient is recorded",
                    "write to it under torch.no_grad(), as eager Python asks for",
                )


def _sharing(site: str) -> list[list[Used]]:
    memories: dict[int, list[Used]] = {}
    for used in used_at(site).values():
        if used.fake.layout == torch.strided:
            memories.setdefault(used.fake.untyped_storage()._cdata, []).append(used)
    return [together for together in memories.values() if len(together) > 1 or together[0].written]


def overlaps_itself(tensor: torch.Tensor, repeated: bool = True) -> bool:
    """Whether elements of a tensor may lie in one place (`x.unfold(0, 3, 2)`), so that a copy is not like it.

    Args:
        tensor: any strided tensor. Of sizes that are not known, the parts of another tensor lie apart.
        repeated: whether one that `expand` has made counts, to whose elements nobody can write.
    """
    if is_contiguous_or_false(tensor):
        return False
    dims = [
        (stride, size) for stride, size in zip(tensor.stride(), tensor.size(), strict=True) if repeated or stride != 0
    ]
    steps = [
        (int(stride), size) for stride, size in dims if is_concrete_int(stride) and not statically_known_true(size == 1)
    ]
    is_part = tensor._base is None or tensor._base.ndim >= tensor.ndim
    extent: Any = 1
    for stride, size in sorted(steps, key=lambda step: step[0]):
        if statically_known_true(stride < extent) or not (is_part or statically_known_true(stride >= extent)):
            return True
        extent = extent + (size - 1) * stride
    return False


def _written_group(together: list[Used], first: int) -> Group:
    fakes = [used.fake for used in together]
    if len(together) == 1 and not overlaps_itself(fakes[0]):
        return -1, ((first, (), (), 0, first),), True
    if len({fake.dtype for fake in fakes}) > 1 or not all(_is_static(fake) for fake in fakes):
        raise_refusal(
            "AG206",
            "a branch or loop writes to a tensor, and uses a view of it of another dtype or of unknown size",
            "clone one of them before the branch or loop",
        )
    count = fakes[0].untyped_storage().nbytes() // fakes[0].element_size()
    whole = [k for k, fake in enumerate(fakes) if fake.numel() == count and not overlaps_itself(fake)]
    if torch.is_grad_enabled() and any(fake.requires_grad for fake in fakes):
        if not whole or not all(fake.requires_grad for fake in fakes):
            raise_refusal(
                "AG206",
                "a branch or loop writes to a tensor whose gradient is recorded, and uses another view of it",
                "use one of the two views only, or clone one before the branch or loop",
            )
    order = sorted(range(len(fakes)), key=lambda k: k not in whole)  # the root of the memory comes first
    members = []
    for k in order:
        same = next(j for j in order if fakes[j] is fakes[k])
        members.append((first + k, tuple(fakes[k].size()), fakes[k].stride(), fakes[k].storage_offset(), first + same))
    return count, tuple(members), True


def _is_static(fake: torch.Tensor) -> bool:
    return all(is_concrete_int(n) for n in (*fake.size(), *fake.stride(), fake.storage_offset()))


def _written_inputs(tracer: Any) -> set[Any]:
    """Inputs whose fake tensor has a newer version; from now on Dynamo takes them for unchanged."""
    inputs = [node for node in tracer.graph.nodes if node.op == "placeholder"]
    inputs = [node for node in inputs if isinstance(node.meta["example_value"], torch.Tensor)]
    before = tracer._input_versions_at_beginning
    after = [node.meta["example_value"]._version for node in inputs]
    lifted = {inner.node for inner in tracer.lifted_freevars.values()}
    changed = {node for node, a, b in zip(inputs, before, after, strict=True) if a != b and node in lifted}
    before[:] = [b if node in changed else a for node, a, b in zip(inputs, before, after, strict=True)]
    return changed


def _written_leaves(tracer: Any) -> dict[int, Any]:
    """The tensors of the carry that a trip writes to: position -> node. They are taken for unchanged from now on."""
    if not tracer.__dict__.get(TRIP):
        return {}
    before, lifted = tracer._input_versions_at_beginning, {inner.node for inner in tracer.lifted_freevars.values()}
    inputs = [node for node in tracer.graph.nodes if node.op == "placeholder"]
    inputs = [node for node in inputs if isinstance(node.meta["example_value"], torch.Tensor)]
    found: dict[int, Any] = {}
    carried = 0
    for k, node in enumerate(inputs):
        if node in lifted:
            continue
        if node.meta["example_value"]._version != before[k]:
            before[k] = node.meta["example_value"]._version
            found[carried] = node
        carried += 1
    return found


def _running_statistics(tracer: Any) -> set[Any]:
    """Tensors that a normalisation in training mode updates, which no version tells."""
    changed = set()
    for node in tracer.graph.nodes:
        name = getattr(node.target, "__name__", "")
        if node.op != "call_function" or name not in ("batch_norm", "instance_norm"):
            continue
        by_torch = not isinstance(node.target, type(torch.nn.functional.batch_norm))
        mean, variance, training = (3, 4, 5) if by_torch else (1, 2, 5)
        if node.kwargs.get("training", node.kwargs.get("use_input_stats", _at(node.args, training, False))):
            changed.add(node.kwargs.get("running_mean", _at(node.args, mean, None)))
            changed.add(node.kwargs.get("running_var", _at(node.args, variance, None)))
    return {node for node in changed if node is not None}


def _at(values: tuple[Any, ...], index: int, default: Any) -> Any:
    return values[index] if index < len(values) else default


def _make_harmless(tracer: Any, changed: set[Any]) -> None:
    """This attempt will be discarded: torch need not complain about what it writes to, nor about shared memory."""
    from torch._dynamo.output_graph import AliasingInfo

    tracer.has_aliasing = lambda **_: AliasingInfo(False, "")
    placeholders = [node for node in tracer.graph.nodes if node.op == "placeholder"]
    for node in changed:
        with tracer.graph.inserting_after(*placeholders[-1:]):  # torch puts more inputs before others
            copy = tracer.graph.call_method("clone", (node,))
        copy.meta["example_value"] = node.meta["example_value"]
        node.replace_all_uses_with(copy, delete_user_cb=lambda user, copy=copy: user is not copy)
