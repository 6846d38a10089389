"""Handlers that read what a block has bound before Python raised an exception (capture/left_blocks.py)."""

import contextlib

import torch

from tests.harness import program, vec


def given(*values):
    return lambda: (vec(1, 2), *values)


@program(inputs=[given([1, 2, 3]), given([1, 2, 5]), given([1, 2, None])])
def elements_until_there_are_none(x, items):
    total = 0
    items = iter(items)
    try:
        while True:
            v = next(items)
            if v is None or v > 3:
                break
            total += v
    except StopIteration:
        return x + total, v
    return x - total, v


@program(inputs=[given(True, {}), given(False, {}), given(True, {"k": 1})])
def key_that_is_not_there(x, wanted, table):
    n = 0
    try:
        if wanted:
            n = 5
            n = n + table["k"]
    except KeyError:
        return x + n
    return x - n


def checked(n):
    if n == 3:
        raise ValueError(f"{n} is too many")
    return n < 4


@program(inputs=[given(2), given(3), given(5)])
def test_of_the_loop(x, limit):
    n = 0
    try:
        while checked(n) and n < limit:
            n = n + 1
            x = x * 2
    except ValueError as error:
        return x, n, str(error)
    return x, -n


@program(inputs=[given([5, 3, 1]), given([5, 3]), given([])])
def only_the_test_raises(x, items):
    items, entered = iter(items), False
    try:
        while next(items) > 2:
            entered = True
    except StopIteration:
        return x, entered
    return x, not entered


def rows(fails):
    yield 1
    yield 2
    if fails:
        raise ValueError("no more")
    yield 3


@program(inputs=[given(True), given(False)])
def iterator_that_raises(x, fails):
    total, last = 0, None
    try:
        for v in rows(fails):
            if v is None:
                break
            total += v
            last = v
    except ValueError:
        return x + total, last, v
    return x - total, last


@program(inputs=[given({}, True, True), given({}, True, False), given({"k": 1}, True, True), given({}, False, True)])
def suppressed(x, table, first, second):
    n = 0
    with contextlib.suppress(KeyError):
        if first:
            n = 1
            if second:
                n = n + 10
                n = n + table["k"]
    return x * n


@program(inputs=[given(True, {}), given(False, {}), given(True, {"k": 1})])
def shared_with_a_function(x, wanted, table):
    n = 0

    def twice():
        return n * 2

    try:
        if wanted:
            n = 1
            table["k"]
            n = 2
    except KeyError:
        return x * twice(), n
    return x * n


@program(inputs=[given(True, {}), given(False, {}), given(True, {"k": 1})])
def bound_nowhere_else(x, wanted, table):
    try:
        if wanted:
            v = 1
            table["k"]
        else:
            v = 2
    except KeyError:
        pass
    return x * v


@program(inputs=[given(True, {}), given(False, {}), given(True, {"k": 1})])
def finally_goes_on(x, wanted, table):
    v = 0
    try:
        try:
            if wanted:
                v = 1
                table["k"]
        finally:
            v += 10
            if wanted:
                v += 100
    except KeyError:
        return x * v
    return x + v


@program(inputs=[given(2, {}), given(0, {}), given(1, {"k": 1})])
def called_again_by_itself(x, depth, table):
    n = depth
    try:
        if depth:
            n = n * 10
            y = called_again_by_itself(x, depth - 1, table)
            n = n + 1
            table["k"]
            return y
        n = n + 7
        table["k"]
    except KeyError:
        return x * n
    return x


class Machine:
    def __init__(self):
        self.stack = []
        self.executed = 0

    def push(self, value):
        self.stack.append(value)

    def add(self, value):
        top = self.stack.pop()
        self.stack.append(self.stack.pop() + top + value)

    def run(self, codes, operands):
        self.stack.clear()
        table = {0: self.push, 1: self.add}
        position = 0
        try:
            while position < len(codes):
                operation = table.get(int(codes[position]))
                if operation is None:
                    break
                operation(operands[position])
                self.executed += 1
                position += 1
        except IndexError:
            return "underflow", position, list(self.stack), self.executed
        return "ok", position, list(self.stack), self.executed


def code_of(*codes):
    return lambda: (torch.tensor(codes), vec(2, 3, 0.5))


@program(inputs=[code_of(0, 0, 1), code_of(0, 1, 0), code_of(7, 0, 1)], factory=True)
def operations_picked_by_data():
    return Machine().run


@program(inputs=[given("1 + 22"), given("1 + 2 "), given("a b")])
def loops_in_each_other(x, text):
    position, found = 0, []
    try:
        while position < len(text):
            if text[position] == " ":
                position += 1
                continue
            if text[position].isdigit():
                end = position
                while text[end].isdigit():
                    end += 1
                found.append(int(text[position:end]))
                position = end
            else:
                found.append(text[position])
                position += 1
    except IndexError:
        return x, found, position, end
    return x, found, position


@program(inputs=[lambda: (vec(1, 2), 3), lambda: (vec(-1, 2), 0), lambda: (vec(-3, 2), 0), lambda: (vec(5, 2), 0)])
def data_before_the_exception(x, n):
    done = 0
    try:
        while x.sum() < 10:
            if x[0] < -2:
                break
            x = x * 2
            done = done + 1
            if done > n:
                raise OverflowError(done)
    except OverflowError as error:
        return x, done, error.args
    return x, -done


@program(
    inputs=[lambda: (vec(1, 2), [1, 0, 2]), lambda: (vec(1, 2), [5, 6]), lambda: (vec(4, -9), [0])],
    refused="a division by a number that torch takes for a symbol, of which it has an example: zero",
)
def in_each_trip(x, values):
    found = []
    for v in values:
        try:
            if x.sum() > v:
                y = x * v
                found.append(1 // v)
            else:
                y = x
        except ZeroDivisionError:
            found.append(y)
    return found


@program(inputs=[given([], True), given([], False), given([1], True)])
def suppressed_by_a_stack(x, values, wanted):
    n = 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(IndexError))
        if wanted:
            n = 1
            n = n + values[0]
    return x * n
