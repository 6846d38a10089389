"""Programs by topic, written as users write them, each with inputs that take every path."""

from tests.harness import Program, programs_of
from tests.programs import (
    algorithms,
    branches,
    early_returns,
    for_loops,
    functions,
    gradients,
    items,
    logs_and_warnings,
    modules,
    prints,
    python_loops,
    raises,
    refusals,
    scalars,
    seeds,
    state,
    ternaries_and_logic,
    while_loops,
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
    algorithms,
    gradients,
    prints,
    logs_and_warnings,
    raises,
    items,
    state,
    refusals,
)


def all_programs() -> tuple[Program, ...]:
    """Every program, topic by topic."""
    return tuple(program for topic in TOPICS for program in programs_of(topic))
