"""Turns off each guard of the runtime in a copy of the tree, and fails when no test notices.

    python -m tests.mutate             all of them
    python -m tests.mutate anchor      those whose name contains a word
    python -m tests.mutate --list

Every entry names one text of one file, what takes its place, and the tests that should fail without it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNTIME = "autograph_torch/runtime/"
CAPTURE = "autograph_torch/capture/"
FACTS = "tests/facts/test_rows.py"
GRADIENTS = "tests/runtime/test_gradients.py"


@dataclass(frozen=True)
class Mutation:
    """One guard, and what shows that it is there."""

    name: str
    file: str
    old: str
    new: str
    tests: str
    select: str = "eager and not aot"


MUTATIONS = (
    Mutation(
        "an open list is none that a branch makes a copy of",
        RUNTIME + "branch.py",
        "(notes.in_step() or _has_open(scratch))",
        "notes.in_step()",
        "tests/test_programs.py",
        "filtered_beside_a_list_with_some",
    ),
    Mutation(
        "lists of a tensor are taken in the body that asks",
        CAPTURE + "views.py",
        """        "method_tolist": numbers,\n""",
        "",
        "tests/test_programs.py",
        "list_of_what_a_branch_has_written",
    ),
    Mutation(
        "texts of powers",
        CAPTURE + "inlining.py",
        "    repair_texts_of_powers,\n    repair_lazy",
        "    repair_lazy",
        "tests/test_programs.py",
        "powers_of_negative_numbers",
    ),
    Mutation(
        "optimizers: steps are counted and corrected as in eager",
        CAPTURE + "optimizers.py",
        "return value.double() if",
        "return value if",
        "tests/capture/test_optimizers.py",
        "every_optimizer and adam",
    ),
    Mutation(
        "optimizers: those of torch are objects as others are",
        CAPTURE + "optimizers.py",
        "        patched(VariableBuilder, _wrap=wrap),\n",
        "",
        "tests/capture/test_optimizers.py",
        "schedules",
    ),
    Mutation(
        "optimizers: writes in place are rounded as in eager",
        CAPTURE + "optimizers.py",
        "        config.patch(_ROUNDING_AS_IN_EAGER),\n",
        "",
        "tests/capture/test_optimizers.py",
        "every_optimizer and rmsprop",
    ),
    Mutation(
        "exceptions keep what their constructor hands on",
        CAPTURE + "error_objects.py",
        "    made.exc_vt.args = list(args)\n",
        "",
        "tests/capture/test_error_objects.py",
        "arguments",
    ),
    Mutation(
        "exceptions in texts",
        CAPTURE + "error_objects.py",
        "            args = [_text(one, tx) for one in args]\n",
        "            pass\n",
        "tests/capture/test_error_objects.py",
        "arguments",
    ),
    Mutation(
        "formatted: numbers that are converted first",
        CAPTURE + "formatted.py",
        'return float if found["kind"] in _FLOATS and value is torch.Tensor else None',
        "return None",
        "tests/capture/test_formatted.py",
        "of_tensors",
    ),
    Mutation(
        "formatted: fields of what is joined",
        CAPTURE + "formatted.py",
        "return text.sym_args[int(field or position)] if",
        "return text.sym_args[0] if",
        "tests/capture/test_formatted.py",
        "of_strings",
    ),
    Mutation(
        "fixes: texts of symbols",
        CAPTURE + "torch_fixes.py",
        "        return template.format(self.sym_node_var.evaluate_expr())\n",
        "        return template.format(str(self.sym_node_var.evaluate_expr()))\n",
        "tests/capture/test_torch_fixes.py",
        "arguments_that_change",
    ),
    Mutation(
        "fixes: conversions of symbols",
        CAPTURE + "torch_fixes.py",
        'converted = ("", "!s", "!r", "!a")[flags & 3]',
        'converted = ""',
        "tests/capture/test_formatted.py",
        "converted_first",
    ),
    Mutation(
        "sequences: what is counted",
        CAPTURE + "sequence_order.py",
        "if self.fn is not operator.countOf or",
        "if True or",
        "tests/capture/test_sequence_order.py",
        "counted",
    ),
    Mutation(
        "path: what an operator refuses",
        CAPTURE + "compiling.py",
        "        if not is_of_operator(error):\n            raise\n",
        "        raise\n",
        "tests/capture/test_one_path.py",
        "refuses_it",
    ),
    Mutation(
        "forecast: leaves are not written to",
        CAPTURE + "forecast.py",
        "return own if given.is_leaf else own.clone()",
        "return own",
        "tests/capture/test_one_path.py",
        "buffer_that_has",
    ),
    Mutation(
        "any, all: what the elements behind do",
        "autograph_torch/runtime/logic.py",
        "        end_taking()\n        end_trips()\n",
        "        end_trips()\n",
        "tests/capture/test_advanced_iterators.py",
        "any_and_all_come",
    ),
    Mutation(
        "any, all: uncompiled",
        "autograph_torch/runtime/logic.py",
        "return _found(values, True, torch.logical_or) if torch.compiler.is_compiling() else any(values)",
        "return _found(values, True, torch.logical_or)",
        "tests/capture/test_advanced_iterators.py",
        "any_and_all_come",
    ),
    Mutation(
        "membership: the same object",
        CAPTURE + "membership.py",
        "is_same(one, element, tx.output.current_tracer)",
        "False",
        "tests/capture/test_membership.py",
        "in_a_list",
    ),
    Mutation(
        "membership: constants among numbers of the graph",
        CAPTURE + "membership.py",
        "isinstance(value, (SymNodeVariable, TensorVariable))",
        "isinstance(value, TensorVariable)",
        "tests/capture/test_membership.py",
        "between_calls",
    ),
    Mutation(
        "fixes: variables without values",
        CAPTURE + "inlining.py",
        "    repair_closures_without_values,\n    take_constants",
        "    take_constants",
        "tests/capture/test_torch_fixes.py",
        "before_all_variables",
    ),
    Mutation(
        "formatted: what format does otherwise",
        CAPTURE + "formatted.py",
        "    if others or len(numbers) != len(kinds):\n        return None\n",
        "",
        "tests/capture/test_formatted.py",
        "otherwise",
    ),
    Mutation(
        "exceptions: handlers read strings",
        CAPTURE + "error_objects.py",
        'if name == "args" and not',
        'if name == "" and not',
        "tests/capture/test_error_objects.py",
        "handler",
    ),
    Mutation(
        "exceptions: a text is of the moment it was made",
        RUNTIME + "effects.py",
        "    if not isinstance(text, Text):\n        told",
        "    if not isinstance(text, Text):\n        return text\n        told",
        "tests/capture/test_error_objects.py",
        "of_the_moment",
    ),
    Mutation(
        "exceptions: a text of their own",
        CAPTURE + "error_objects.py",
        "            if own is not None:\n",
        "            if False:\n",
        "tests/capture/test_error_objects.py",
        "text_of_its_own",
    ),
    Mutation(
        "leaves that the function makes: inputs of bodies may be such",
        CAPTURE + "leaves_made.py",
        " and node.graph is graph\n",
        "\n",
        "tests/capture/test_leaves_made.py",
        "is_none_from_around",
    ),
    Mutation(
        "leaves that the function makes: the anchor is none of the program's",
        CAPTURE + "leaves_made.py",
        "given is not gradients.ANCHOR and ",
        "",
        "tests/capture/test_leaves_made.py",
        "refused_at_its_line",
    ),
    Mutation(
        "converted functions below others take the forms that a trace has told of",
        CAPTURE + "inlining.py",
        "        new = converted_again(code, symbolic_locals, function)\n",
        "        pass\n",
        "tests/capture/test_inlining.py",
        "forms_of_a_converted_function",
    ),
    Mutation(
        "a partial function is converted",
        CAPTURE + "compiling.py",
        "return _innermost(inner.func) if isinstance(inner, functools.partial) else inner",
        "return inner",
        "tests/capture/test_inlining.py",
        "partial_function",
    ),
    Mutation(
        "one path: tests of tensors are checked",
        CAPTURE + "observed_data.py",
        "        refuse_if(tx, other, _OTHER_DATA, _ADVICE)\n",
        "",
        "tests/capture/test_one_path.py",
        "every_call and converted",
    ),
    Mutation(
        "one path: numbers are checked",
        CAPTURE + "observed_data.py",
        """number.call_method(tx, "ne", [ConstantVariable.create(expected)], {})""",
        """number.call_method(tx, "ne", [number], {})""",
        "tests/capture/test_one_path.py",
        "every_call and converted",
    ),
    Mutation(
        "one path: floats are compared bit for bit",
        CAPTURE + "observed_data.py",
        "if isinstance(found, float):  # bit",
        "if False:  # bit",
        "tests/capture/test_one_path.py",
        "as_they_are",
    ),
    Mutation(
        "one path: the warning may be an error",
        CAPTURE + "one_path.py",
        "can_run_again() and not _is_an_error()\n",
        "can_run_again()\n",
        "tests/capture/test_one_path.py",
        "as_an_error",
    ),
    Mutation(
        "one path: what has no single type is refused",
        CAPTURE + "one_path.py",
        " and not _TWO_TENSORS.match(found.message)",
        "",
        "tests/capture/test_one_path.py",
        "no_single_type",
    ),
    Mutation(
        "one path: an end to it",
        CAPTURE + "observed_data.py",
        "if self._given > _MOST:",
        "if False:",
        "tests/capture/test_one_path.py",
        "very_many",
    ),
    Mutation(
        "one path: a checkpoint around ends a call on purpose",
        RUNTIME + "performing.py",
        "(AutographError, TorchDynamoException, *_SIGNALS)",
        "(AutographError, TorchDynamoException)",
        "tests/capture/test_one_path.py",
        "checkpoint_around",
    ),
    Mutation(
        "one path: an error of torch is Python's",
        CAPTURE + "compiling.py",
        "raise raised_on_path(error) from RaisedOnPath(error)",
        "raise",
        "tests/capture/test_one_path.py",
        "error_of_torch",
    ),
    Mutation(
        "attributes of what is written in place: set",
        CAPTURE + "written_in_place.py",
        "return store(self, _itself(item),",
        "return store(self, item,",
        "tests/capture/test_written_in_place.py",
        "as_in_eager and eager-first",
    ),
    Mutation(
        "attributes of what is written in place: the None of all constants",
        CAPTURE + "written_in_place.py",
        "if tx.output.side_effects.has_pending_mutation_of_attr(first, name):",
        "if first is not self and tx.output.side_effects.has_pending_mutation_of_attr(first, name):",
        "tests/capture/test_written_in_place.py",
        "steps_twice",
    ),
    Mutation(
        "attributes of what is written in place: in branches",
        CAPTURE + "field_writes.py",
        "if memory is not None and any(",
        "if False and any(",
        "tests/capture/test_written_in_place.py",
        "for_all_data",
    ),
    Mutation(
        "forecast: not of what all processes run",
        CAPTURE + "forecast.py",
        "if str(node.target).startswith(_COLLECTIVES):",
        "if False:",
        "tests/capture/test_one_path.py",
        "all_processes",
    ),
    Mutation(
        "extremes: a default is for one iterable",
        CAPTURE + "extremes.py",
        "        return len(args) == 1\n",
        "        return True\n",
        "tests/capture/test_extremes.py",
        "one_iterable",
    ),
    Mutation(
        "one path: the runtime is no frame of its own",
        CAPTURE + "compiling.py",
        "if in_runtime:",
        "if False:",
        "tests/capture/test_one_path.py",
        "fallback",
    ),
    Mutation(
        "orders: a constant is itself",
        CAPTURE + "sequence_order.py",
        "left is right or (len(constants) == 2 and constants[0] is constants[1])",
        "left is right",
        "tests/capture/test_sequence_order.py",
        "constant_that_is_no_number",
    ),
    Mutation(
        "orders: NaN is no constant to sort by",
        RUNTIME + "sorting.py",
        "not is_data_dependent(value) and value == value",
        "not is_data_dependent(value)",
        "tests/capture/test_sequence_order.py",
        "sorted_by_what_is_no_number",
    ),
    Mutation(
        "filter keeps its function",
        "passes/comprehensions.py",
        "if found is None or _binds_function(loop):",
        "if found is None:",
        "tests/passes/test_comprehensions.py",
        "test_text",
    ),
    Mutation(
        "leaves deep inside are written to under no_grad",
        RUNTIME + "memories.py",
        "    copy.node.meta[_OF_LEAF] = _is_leaf(original)\n",
        "    copy.node.meta[_OF_LEAF] = original.meta['example_value'].is_leaf\n",
        "tests/runtime/test_outside.py",
        "deep_inside",
    ),
    Mutation(
        "extremes: of two tensors in eager one is the result",
        CAPTURE + "shared_results.py",
        "if EITHER_OF in node.meta:",
        "if False:",
        "tests/capture/test_extremes.py",
        "one_of_the_two",
    ),
    Mutation(
        "extremes: of a tensor they are views",
        RUNTIME + "extremes.py",
        "return rows.select(0, _first_extreme(largest, rows.detach()))",
        "return rows.amax(0) if largest else rows.amin(0)",
        "tests/capture/test_extremes.py",
        "elements_of_a_tensor",
    ),
    Mutation(
        "orders: equality is a truth value",
        CAPTURE + "sequence_order.py",
        "else comparison is operator.ne",
        "else None",
        "tests/capture/test_sequence_order.py",
        "equality_is",
    ),
    Mutation(
        "orders: a number is itself",
        CAPTURE + "sequence_order.py",
        "if _are_one(*pair)}",
        "if False}",
        "tests/capture/test_sequence_order.py",
        "number_is_itself",
    ),
    Mutation(
        "orders: searches ask for every element",
        CAPTURE + "sequence_order.py",
        "self.value in _SEARCHES and not _is_plain(args[:2], kwargs)",
        "False",
        "tests/capture/test_sequence_order.py",
        "with_a_key or of_objects",
    ),
    Mutation(
        "orders: an element rises no further than Python lets it",
        RUNTIME + "ordered_lists.py",
        "            rises = False\n",
        "            pass\n",
        "tests/capture/test_sequence_order.py",
        "element_rises",
    ),
    Mutation(
        "grown lists are turned around outside of branches",
        RUNTIME + "growing.py",
        "isinstance(found, Appending) or not notes.is_outermost():",
        "isinstance(found, Appending):",
        "tests/capture/test_grown.py",
        "turned_around",
    ),
    Mutation(
        "rows of a loop are views",
        RUNTIME + "iteration.py",
        "lambda k: iterable.select(0, k), not",
        "lambda k: iterable.select(0, k).clone(), not",
        "tests/capture/test_advanced_iterators.py",
        "rows_are_views",
    ),
    Mutation(
        "elements of lists and dicts when their trip begins",
        CAPTURE + "taken_elements.py",
        "    new = _with(item, parts)\n",
        "    return item\n",
        "tests/capture/test_advanced_iterators.py",
        "elements_that_trips_write_to",
    ),
    Mutation(
        "lists from behind",
        CAPTURE + "advanced_iterators.py",
        'if name == "__reversed__" and',
        "if False and",
        "tests/capture/test_advanced_iterators.py",
        "elements_that_trips_write_to and reversed",
    ),
    Mutation(
        "iterators: what a loop has run over that data may leave early",
        CAPTURE + "taken_elements.py",
        "        spent().update(one.taken)\n",
        "",
        "tests/capture/test_advanced_iterators.py",
        "afterwards",
    ),
    Mutation(
        "iterators: taken from in a branch",
        CAPTURE + "advanced_iterators.py",
        "if made_in is not tracer and made_in in tracing.enclosing(tracer):",
        "if False:",
        "tests/capture/test_advanced_iterators.py",
        "taken_from_in_a_branch",
    ),
    Mutation(
        "iterators: generators that print",
        CAPTURE + "taken_elements.py",
        "_has_effects(parent.output, one.mark) or ",
        "",
        "tests/capture/test_advanced_iterators.py",
        "prints_in_a_branch",
    ),
    Mutation(
        "iterators: what generators see that trips write to",
        CAPTURE + "taken_elements.py",
        "if _has_changed(_under_way().pop()):",
        "if _under_way().pop() is None:",
        "tests/capture/test_advanced_iterators.py",
        "sees or appended",
    ),
    Mutation(
        "loops: what follows writes to scopes outside",
        "passes/loops.py",
        "        if self._declared.intersection(binds([node, *rest])):\n            return False\n        leaves",
        "        leaves",
        "tests/passes/test_exits.py",
        "functions_around",
    ),
    Mutation(
        "iterators: variables that trips bind and a generator reads",
        "passes/loops.py",
        "            shared |= self._facts.shared.read_between(node.iter, node.body)\n",
        "            pass\n",
        "tests/capture/test_advanced_iterators.py",
        "sees_a_variable",
    ),
    Mutation(
        "levels of bodies that learn what is written to once each",
        "autograph_torch/runtime/tracing.py",
        "if one.made_in is None or one.made_in in around]",
        "if False]",
        "tests/runtime/test_attempts.py",
        "learns_once",
    ),
    Mutation(
        "what torch takes for granted of sizes, in compiled graphs",
        CAPTURE + "compiling.py",
        "            keep_asserts(graph)",
        "            pass",
        "tests/capture/test_kept_asserts.py",
        "aot_eager and broadcast",
    ),
    Mutation(
        "what torch takes for granted of sizes runs again in Python",
        CAPTURE + "failures.py",
        " or is_taken_for_granted(node)",
        "",
        "tests/capture/test_kept_asserts.py",
        "eager and broadcast and not aot_eager",
    ),
    Mutation(
        "plain calls that raise run again in Python",
        CAPTURE + "again.py",
        "if frame is None or not frame.may_raise:",
        "if code.co_name:",
        "tests/capture/test_again.py",
        "writes_before",
    ),
    Mutation(
        "gradients of what is handed on under no_grad",
        RUNTIME + "branch.py",
        "        passes = notes.hands_on_gradients(site)",
        "        passes = False",
        "tests/test_programs.py",
        "scaled_when_it_is_long",
    ),
    Mutation(
        "lists that only one branch hands out",
        CAPTURE + "field_writes.py",
        "            _lines()[item] = tracing.user_line()[:2]",
        "            pass",
        "tests/test_programs.py",
        "row_alias",
    ),
    Mutation(
        "contents that only data can tell",
        CAPTURE + "open_contents.py",
        "    __iter__ = __len__ = __getitem__",
        "    __len__ = lambda self: 0\n    __iter__ = __getitem__",
        "tests/capture/test_open_contents.py",
        "uses_of_a_list and len",
    ),
    Mutation(
        "gradients that no branch gives",
        RUNTIME + "codec.py",
        "({leaf}.detach() if {leaf}.requires_grad else {leaf})",
        "{leaf}",
        GRADIENTS,
        "no_branch_gives",
    ),
    Mutation("S1 initial values", RUNTIME + "staged.py", "_for_no_trip(leaves, init, entered)", "leaves", FACTS, "S1"),
    Mutation(
        "S2 anchor",
        RUNTIME + "staged.py",
        "[anchored(leaves[k]) if wants_grad[k] else leaves[k] for k in range(len(leaves))]",
        "leaves",
        FACTS,
        "S2",
    ),
    Mutation(
        "S3 buffers",
        RUNTIME + "gradients.py",
        "inductor.inplace_buffers = False",
        "pass",
        GRADIENTS,
        "inductor",
    ),
    Mutation(
        "S4 random numbers",
        RUNTIME + "gradients.py",
        "return name in _RANDOM or bool(",
        "return False and bool(",
        "tests/runtime/test_random_numbers.py",
        "",
    ),
    Mutation(
        "integers as floats",
        RUNTIME + "notes.py",
        "disguised = torch.is_grad_enabled() and has_float_leaf(plan)",
        "disguised = False",
        FACTS,
        "integers and not inductor",
    ),
    Mutation(
        "rows of tensors",
        CAPTURE + "views.py",
        "return unpack(_in_body(self, tx), tx, *args, **kwargs)",
        "return unpack(self, tx, *args, **kwargs)",
        "tests/test_programs.py",
        "rows_behind_a_write_in_a_branch and eager",
    ),
    Mutation(
        "operands that are written to",
        CAPTURE + "compiling.py",
        "        keep_operands(graph)\n",
        "",
        "tests/capture/test_saved_operands.py",
    ),
    Mutation(
        "leaves written to in a branch",
        RUNTIME + "memories.py",
        'if step is not None and not step.name().startswith("Clone"):',
        "if False:",
        "tests/test_programs.py",
        "WeightThatABranchScalesWithAGradient and eager",
    ),
    Mutation(
        "copies of results",
        RUNTIME + "codec.py",
        "{path}.clone(memory_format=torch.contiguous_format)",
        "{path}",
        FACTS,
        "input and not inductor",
    ),
    Mutation(
        "row-major results",
        RUNTIME + "codec.py",
        "{path}.reshape(-1).clone().reshape({path}.shape)",
        "{path}.clone()",
        FACTS,
        "layouts and not inductor",
    ),
    Mutation(
        "numbers as tensors",
        RUNTIME + "codec.py",
        'f"torch.scalar_tensor({value}, dtype={dtype})"',
        "value",
        FACTS,
    ),
    Mutation(
        "numbers again",
        RUNTIME + "codec.py",
        "{self._next_leaf(NUMBER_DTYPES[plan[1]])}.item()",
        "{self._next_leaf(NUMBER_DTYPES[plan[1]])}",
        FACTS,
    ),
    Mutation(
        "numbers in double precision",
        RUNTIME + "layout.py",
        '"float": torch.float64',
        '"float": torch.float32',
        "tests/test_programs.py",
        "precision and eager",
    ),
    Mutation(
        "floats closed over",
        RUNTIME + "structure.py",
        "if isinstance(value, (bool, float)) and not has_static_value(value):",
        "if False:",
        "tests/test_programs.py",
        "clip_norm and eager",
    ),
    Mutation(
        "one element", RUNTIME + "predicate.py", "tensor if tensor.ndim == 0 else tensor.reshape(())", "tensor", FACTS
    ),
    Mutation("truth of numbers", RUNTIME + "predicate.py", "if flag.dtype == torch.bool else flag != 0", "", FACTS),
    Mutation("predicate is no alias", RUNTIME + "staged.py", "return flag.clone() if", "return flag if", FACTS),
    Mutation("stand-ins", RUNTIME + "outside.py", "            stand_in(tensors[index], made[index])\n", "", FACTS),
    Mutation(
        "writes go back",
        RUNTIME + "outside.py",
        "            tensors[members[0][0]].copy_(content)\n",
        "",
        FACTS,
        "written and not inductor",
    ),
    Mutation(
        "buffers take on no gradient",
        RUNTIME + "outside.py",
        "contents[k] if grads[k] else contents[k].detach()",
        "contents[k]",
        "tests/runtime/test_outside.py",
        "",
    ),
    Mutation(
        "views of one memory",
        RUNTIME + "memories.py",
        "memories.setdefault(used.fake.untyped_storage()._cdata, [])",
        "memories.setdefault(id(used), [])",
        FACTS,
    ),
    Mutation(
        "running statistics",
        RUNTIME + "memories.py",
        "    statistics = _running_statistics(tracer)",
        "    statistics: set[Any] = set()",
        FACTS,
        "normalisation and not inductor",
    ),
    Mutation(
        "containers go back",
        RUNTIME + "branch.py",
        "        write_back(containers[k], contents[k])\n",
        "        pass\n",
        FACTS,
        "list and not inductor",
    ),
    Mutation(
        "variables outside go back",
        RUNTIME + "branch.py",
        "    write_fields(site, attributes)\n",
        "",
        FACTS,
        "list and not inductor",
    ),
    Mutation(
        "one tensor twice",
        RUNTIME + "structure.py",
        "    seen.append((tensor, path))\n",
        "",
        FACTS,
        "twice and not inductor",
    ),
    Mutation(
        "an element is there",
        "passes/bounded.py",
        "        kept = self.filled - set(_shortened(node, self.names))\n",
        "        kept = self.filled\n",
        "tests/passes/test_bounded.py",
        "",
    ),
    Mutation(
        "room for another element",
        RUNTIME + "bounded.py",
        "    if notes.may_be_full(name):\n        _check_room(name, rows, torch.zeros((), dtype=torch.bool))\n",
        "",
        "tests/capture/test_bounded.py",
        "graph_checks",
    ),
    Mutation(
        "NaN in lists and sets",
        RUNTIME + "bounded.py",
        "            _refuse_nan(row[k])\n",
        "            pass\n",
        "tests/capture/test_bounded.py",
        "nan",
    ),
    Mutation(
        "an empty list has no element",
        RUNTIME + "bounded.py",
        '    item = _read(name, count, columns, place, "" if sure else message)\n',
        '    item = _read(name, count, columns, place, "")\n',
        "tests/capture/test_bounded.py",
        "graph_checks",
    ),
    Mutation(
        "arguments that are cells",
        CAPTURE + "again.py",
        "    return len([name for name in code.co_cellvars if name not in arguments])\n",
        "    return len(code.co_cellvars)\n",
        "tests/capture/test_again.py",
        "cell",
    ),
    Mutation(
        "writes out of bounds on paths not taken",
        CAPTURE + "failing_calls.py",
        "        patched(tensor, get_fake_value=fake_value),  # `x[i] = v`\n",
        "",
        "tests/test_programs.py",
        "WritesBehindTheEnd",
    ),
    Mutation(
        "attributes on paths that jump",
        "passes/attributes.py",
        "    if exits([node]) or ",
        "    if ",
        "tests/test_programs.py",
        "SkipsAndCounts or StopsAndCounts",
    ),
    Mutation(
        "attributes on paths that raise",
        "passes/attributes.py",
        "exits([node]) or any(_raises(inner) for inner in walk_scope(block))",
        "exits([node])",
        "tests/test_programs.py",
        "raises_and_counts",
    ),
    Mutation(
        "attributes after an operator",
        CAPTURE + "torch_fixes.py",
        "    proxy.side_effects = property(current, remember)\n",
        "",
        "tests/capture/test_torch_fixes.py",
        "",
    ),
    Mutation(
        "objects in two places may not be written to in one of them",
        CAPTURE + "two_places.py",
        "            _lines()[item] = line",
        "            pass",
        "tests/test_programs.py",
        "a_list_with_two_names",
    ),
    Mutation(
        "what writes to one container last is put back first",
        CAPTURE + "contents.py",
        "in reversed(written.items())",
        "in written.items()",
        "tests/test_programs.py",
        "window_by_another_name",
    ),
    Mutation(
        "truth values are compared",
        CAPTURE + "inlining.py",
        "    repair_equality_of_flags,\n    repair_formats_of_symbols,\n    repair_quotients",
        "    repair_formats_of_symbols,\n    repair_quotients",
        "tests/test_programs.py",
        "equal_flags",
    ),
    Mutation(
        "truth of lengths that only data tell",
        CAPTURE + "compiling.py",
        "    truth_of_lengths,\n    numbers_as_tensors,",
        "    numbers_as_tensors,",
        "tests/test_programs.py",
        "another_name_is_asked",
    ),
    Mutation(
        "writes that would be lost",
        CAPTURE + "standing_in.py",
        "        check_at_the_end(parent.output, keep_writes)\n",
        "",
        "tests/capture/test_shared_results.py",
        "",
    ),
    Mutation(
        "results that are arguments",
        CAPTURE + "given_back.py",
        "                results[one.place] = ",
        "                _ = ",
        "tests/capture/test_given_back.py",
        "the_argument_itself",
    ),
    Mutation(
        "guards look into the frame",
        CAPTURE + "torch_fixes.py",
        "frame if code is compiled else code",
        "code",
        "tests/capture/test_attempts.py",
        "frame",
    ),
    Mutation(
        "settings around torch's own functions",
        CAPTURE + "compiling.py",
        'converted = is_marked(code) or _wraps_converted(code, given["closure"])',
        "converted = is_marked(code)",
        "tests/runtime/test_outside.py",
        "",
    ),
    Mutation(
        "operands written to after the operator",
        CAPTURE + "compiling.py",
        "        keep_operands(graph)\n",
        "",
        "tests/capture/test_saved_operands.py",
        "eager and not aot",
    ),
    Mutation(
        "max and min choose as Python does",
        CAPTURE + "compiling.py",
        "    choosing_extremes,\n    deques",
        "    deques",
        "tests/capture/test_extremes.py",
        "",
    ),
    Mutation(
        "algebra decides nothing about floats",
        CAPTURE + "compiling.py",
        "    not_numbers,\n    numpy_scalars",
        "    numpy_scalars",
        "tests/capture/test_not_numbers.py",
        "",
    ),
    Mutation(
        "truth values that count",
        CAPTURE + "compiling.py",
        "    flags_as_integers,\n    identities",
        "    identities",
        "tests/capture/test_flags.py",
        "",
    ),
    Mutation(
        "branches with gradients that write",
        CAPTURE + "pure_branches.py",
        "    return None not in storages and not storages & given",
        "    return True",
        "tests/capture/test_pure_branches.py",
        "",
    ),
    Mutation(
        "variables that functions rebind later",
        "passes/hidden.py",
        "{*binds(later), *elsewhere}",
        "set(binds(later))",
        "tests/test_fuzz_source.py",
        "found",
    ),
    Mutation(
        "names that a branch needs",
        "passes/branches.py",
        "live_before(body, outputs)\n            found",
        "live_before(body, EMPTY) if body[-1:] and isinstance(body[-1], gast.Return) else EMPTY\n            found",
        "tests/passes/test_golden.py",
        "",
    ),
    Mutation(
        "random numbers of a loop that runs twice",
        CAPTURE + "growing.py",
        "            if drawing and any(",
        "            if not drawing and any(",
        "tests/test_programs.py",
        "growing or rand",
    ),
    Mutation(
        "vectors of one element in the graph",
        CAPTURE + "squeezes.py",
        "            if not (_takes_either(user, node) or _hands_in(user, node)):",
        "            if False:",
        "tests/capture/test_squeezes.py",
        "is_told",
    ),
    Mutation(
        "vectors of one element in Python",
        CAPTURE + "squeezes.py",
        "        if _is_marked(self) and name not in _SAME_KIND | _TO_SCALARS | _KNOWN:",
        "        if False:",
        "tests/capture/test_squeezes.py",
        "is_told",
    ),
    Mutation(
        "one tensor by two names in a loop",
        RUNTIME + "layout.py",
        '        if part[0] == "again" and part[1] not in places:',
        '        if part[0] == "again":',
        "tests/test_programs.py",
        "two_names_of_one_tensor or one_tensor_twice",
    ),
    Mutation(
        "one tensor by two names behind a branch",
        RUNTIME + "alternatives.py",
        '    return within_reach(plan) if _has(plan, "choice") else sharing(plan, then, otherwise)',
        "    return within_reach(plan)",
        "tests/test_programs.py",
        "two_names_of_one_tensor_written or one_tensor_on_both",
    ),
    Mutation(
        "lists that a step writes to",
        RUNTIME + "steps.py",
        "_written(before[k], after[k]) for",
        "after[k] for",
        "tests/test_programs.py",
        "list_written_to_behind",
    ),
    Mutation(
        "places of equal functions of two files",
        CAPTURE + "instructions.py",
        "self._by_file(code, code.co_filename, *args)",
        'self._by_file(code, "", *args)',
        "tests/capture/test_instructions.py",
        "",
    ),
    Mutation(
        "the line that a branch raises on",
        CAPTURE + "hosts.py",
        "_raised_at(parent) or places_around(parent)",
        "places_around(parent)",
        "tests/capture/test_raised_places.py",
        "",
    ),
    Mutation(
        "exceptions and the handlers of their function",
        CAPTURE + "attempts.py",
        "found.code == _HANDLED and place",
        "found.code == _TEST and place",
        "tests/test_programs.py",
        "test_compiled and handler_of_another_exception",
    ),
    Mutation(
        "what comes first",
        "autograph_torch/capture/__init__.py",
        "import autograph_torch.runtime",
        "import torch",
        "tests/test_imports.py",
        "",
    ),
)


def survives(mutation: Mutation, tree: Path) -> str:
    """Why a mutation counts as unnoticed; empty when a test has failed."""
    path = tree / mutation.file
    text = path.read_text()
    if text.count(mutation.old) != 1:
        return f"{mutation.file} has its text {text.count(mutation.old)} times: bring the list up to date"
    path.write_text(text.replace(mutation.old, mutation.new))
    try:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not gpu", mutation.tests]
        command += ["-k", mutation.select] if mutation.select else []
        run = subprocess.run(
            command, cwd=tree, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tree)}
        )
    finally:
        path.write_text(text)
    failed_or_crashed = run.returncode == 1 or run.returncode < 0
    return "" if failed_or_crashed else f"no test failed (pytest: {run.stdout.strip().splitlines()[-1:]})"


def copy_of_the_tree(target: Path) -> Path:
    left_out = shutil.ignore_patterns(".git", ".venv", "build", "*_cache", "__pycache__", "*.egg-info", ".hypothesis")
    return Path(shutil.copytree(ROOT, target / "tree", ignore=left_out))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    chosen = [mutation for mutation in MUTATIONS if options.word in mutation.name]
    if options.list:
        print("\n".join(mutation.name for mutation in chosen))
        return 0
    unnoticed = 0
    with tempfile.TemporaryDirectory() as directory:
        tree = copy_of_the_tree(Path(directory))
        for mutation in chosen:
            reason = survives(mutation, tree)
            unnoticed += bool(reason)
            print(
                f"{'UNNOTICED' if reason else 'noticed':10}{mutation.name}{': ' if reason else ''}{reason}", flush=True
            )
    print(f"{len(chosen)} guards turned off, {unnoticed} unnoticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
