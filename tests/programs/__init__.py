"""Programs by topic, written as users write them, each with inputs that take every path."""

from tests.harness import Program, programs_of
from tests.programs import (
    algorithms,
    attributes,
    branches,
    buffers,
    caught,
    containers,
    early_returns,
    effects_in_use,
    effects_more,
    for_loops,
    functions,
    gradients,
    gradients_more,
    items,
    logs_and_warnings,
    modules,
    names,
    prints,
    python_loops,
    raises,
    refusals,
    scalars,
    scalars_more,
    seeds,
    state,
    ternaries_and_logic,
    while_loops,
    writes,
)

TOPICS = (
    seeds,
    branches,
    ternaries_and_logic,
    early_returns,
    while_loops,
    for_loops,
    python_loops,
    functions,
    modules,
    scalars,
    scalars_more,
    algorithms,
    gradients,
    gradients_more,
    prints,
    logs_and_warnings,
    raises,
    caught,
    effects_more,
    effects_in_use,
    buffers,
    items,
    state,
    writes,
    containers,
    attributes,
    names,
    refusals,
)


def all_programs() -> tuple[Program, ...]:
    """Every program, topic by topic."""
    return tuple(program for topic in TOPICS for program in programs_of(topic))
