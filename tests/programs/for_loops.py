"""for over range(tensor), range(n.item()) and tensors, with enumerate and zip, break, continue, return and else."""

import torch

from tests.harness import flags, integer, ints, program, randn, scalar, vec


@program(inputs=[lambda: (vec(1, 2), integer(4)), lambda: (vec(1, 2), integer(1)), lambda: (vec(1, 2), integer(0))])
def range_over_a_tensor(x, n):
    for _ in range(n):
        x = x * 1.5
    return x


@program(inputs=[lambda: (integer(5),), lambda: (integer(1),), lambda: (integer(0),)])
def sum_of_squares_by_index(n):
    total = 0
    for i in range(n):
        total = total + i * i
    return total


@program(inputs=[lambda: (vec(1, 2), integer(3)), lambda: (vec(1, 2), integer(1)), lambda: (vec(1, 2), integer(0))])
def range_over_an_item(x, steps):
    for i in range(int(steps.item())):
        x = x + i
    return x


@program(
    inputs=[
        lambda: (integer(2), integer(9), integer(3)),
        lambda: (integer(5), integer(5), integer(1)),
        lambda: (integer(5), integer(0), integer(-2)),
    ]
)
def range_with_start_stop_and_step(start, stop, step):
    total = torch.tensor(0)
    for i in range(start, stop, step):
        total = total * 2 + i
    return total


@program(inputs=[lambda: (vec(3, 1, 2),), lambda: (vec(7),), lambda: (vec(-1, -2),)])
def running_maximum_over_a_tensor(values):
    best = torch.tensor(0.0)
    for value in values:
        if value > best:
            best = value
    return best


@program(inputs=[lambda: (randn(4, 3),), lambda: (randn(1, 3),), lambda: (torch.zeros(0, 3),)])
def rows_of_a_matrix(matrix):
    state = torch.zeros(3)
    for row in matrix:
        state = torch.tanh(state + row)
    return state


@program(inputs=[lambda: (vec(1, 2, 3, 4),), lambda: (vec(40, 2),), lambda: (vec(1),)])
def enumerate_with_break(x):
    total = torch.tensor(0.0)
    for i, value in enumerate(x):
        total = total + value * i
        if total > 7:
            break
    return total


@program(
    inputs=[lambda: (vec(1, 2, 3), vec(4, 5, 6)), lambda: (vec(-1, 2, 3), vec(4, 5, 6)), lambda: (vec(1), vec(-4))]
)
def zip_of_two_tensors(a, b):
    total = torch.tensor(0.0)
    for p, q in zip(a, b):
        if p * q > 0:
            total = total + p * q
        else:
            total = total - 1
    return total


@program(inputs=[lambda: (integer(3), integer(2)), lambda: (integer(1), integer(4)), lambda: (integer(2), integer(0))])
def for_in_a_for(rows, columns):
    total = torch.tensor(0)
    for i in range(rows):
        for j in range(columns):
            total = total + i * 10 + j
    return total


@program(inputs=[lambda: (vec(1, 2), integer(10)), lambda: (vec(60, 60), integer(10)), lambda: (vec(1, 2), integer(0))])
def break_out_of_a_tensor_range(x, n):
    for _ in range(n):
        if x.sum() > 100:
            break
        x = x * 2
    return x


@program(inputs=[lambda: (integer(7),), lambda: (integer(1),), lambda: (integer(0),)])
def continue_in_a_tensor_range(n):
    total = torch.tensor(0)
    for i in range(n):
        if i % 3 == 0:
            continue
        total = total + i
    return total


@program(inputs=[lambda: (scalar(1), integer(20)), lambda: (scalar(1), integer(2)), lambda: (scalar(1), integer(0))])
def return_from_a_tensor_range(x, n):
    for _ in range(n):
        x = x * 2
        if x > 50:
            return x
    return x * 0


@program(inputs=[lambda: (ints(4, 6, 7), 7), lambda: (ints(4, 6, 7), 5), lambda: (ints(4), 4)])
def else_of_a_for_when_not_found(values, wanted):
    for value in values:
        if value == wanted:
            result = value * 100
            break
    else:
        result = values.sum()
    return result


@program(inputs=[lambda: (integer(4),), lambda: (integer(1),)])
def loop_variable_after_the_loop(n):
    x = torch.tensor(0)
    for i in range(n):
        x = x + i
    return x, i


@program(inputs=[lambda: (integer(4),), lambda: (integer(1),), lambda: (integer(0),)])
def loop_variable_bound_before_the_loop(n):
    i = -1
    x = torch.tensor(0)
    for i in range(n):
        x = x + i
    return x, i


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(5),)])
def last_value_after_a_loop_over_a_tensor(x):
    for value in x:
        y = value * 2
    return y, value


@program(inputs=[lambda: (vec(2, 0, 3),), lambda: (vec(0, 1, 3),), lambda: (vec(1, 1, 1),)])
def product_until_a_zero(x):
    product = torch.tensor(1.0)
    for value in x:
        if value == 0:
            return product
        product = product * value
    return -product


@program(inputs=[lambda: (randn(5, 2),), lambda: (randn(5, 2) * 0,), lambda: (randn(5, 2) + 9,)])
def convergence_over_rows(points):
    centre = torch.zeros(2)
    for i, point in enumerate(points):
        new = centre + (point - centre) / (i + 1)
        if (new - centre).norm() < 1e-3:
            break
        centre = new
    return centre


@program(inputs=[lambda: (ints(2, 3, 1),), lambda: (ints(0, 0, 5),), lambda: (ints(0),)])
def loop_bound_taken_from_a_loop_variable(lengths):
    total = torch.tensor(0)
    for length in lengths:
        for k in range(length):
            total = total + k + 1
    return total


@program(
    inputs=[lambda: (vec(1, 2, 3), integer(2)), lambda: (vec(1, 2, 3), integer(0)), lambda: (vec(1, 2, 3), integer(3))]
)
def index_by_the_loop_variable(x, n):
    total = torch.tensor(0.0)
    for i in range(n):
        total = total + x[i]
    return total


@program(inputs=[lambda: (vec(1, -2, 3, -4), 3), lambda: (vec(-1, 2), 2), lambda: (vec(-1, 2), 0)])
def python_range_with_a_tensor_continue(x, n):
    total = torch.tensor(0.0)
    for i in range(n):
        if x[i % len(x)] < 0:
            continue
        total = total + x[i % len(x)]
    return total


@program(inputs=[lambda: (vec(1, 2), integer(3)), lambda: (vec(-1, 2), integer(2)), lambda: (vec(1, 2), integer(0))])
def python_float_carried_through_a_tensor_range(x, n):
    decay = 1.0
    for _ in range(n):
        x = x * decay
        decay *= 0.9
    return x, decay


@program(inputs=[lambda: (integer(6),), lambda: (integer(5),), lambda: (integer(0),)])
def bool_carried_through_a_tensor_range(n):
    odd = False
    for _ in range(n):
        odd = not odd
    return odd


@program(inputs=[lambda: (vec(3, 1, 2),), lambda: (vec(1, 2, 3),), lambda: (vec(1),)])
def sorted_check_with_pairs(x):
    for left, right in zip(x[:-1], x[1:]):
        if left > right:
            return torch.tensor(False)
    return torch.tensor(True)


@program(
    inputs=[lambda: (integer(3), vec(0.1, 0.2)), lambda: (integer(1), vec(0.1, 5)), lambda: (integer(0), vec(1, 2))]
)
def while_in_a_tensor_range(n, x):
    for _ in range(n):
        x = x * 3
        while x.max() > 1:
            x = x / 2
    return x


@program(inputs=[lambda: (vec(4, 9, -1, 16),), lambda: (vec(-1, 4),), lambda: (vec(4),)])
def nested_loops_with_outer_return(x):
    for value in x:
        guess = value
        while (guess * guess - value).abs() > 1e-3:
            if value < 0:
                return torch.tensor(-1.0)
            guess = (guess + value / guess) / 2
    return guess


@program(inputs=[lambda: (vec(1, -2, 3), vec(2, 2, 2)), lambda: (vec(1), vec(-1)), lambda: (vec(), vec())])
def enumerate_of_zip_with_nested_targets(a, b):
    total = torch.tensor(0.0)
    for i, (p, q) in enumerate(zip(a, b)):
        if p > 0:
            total = total + i + p * q
    return total


@program(inputs=[lambda: (vec(1, -2, 3),), lambda: (vec(-1, -2),), lambda: (vec(4),)])
def loop_over_nonzero_indices(x):
    total = torch.tensor(0.0)
    for index in (x > 0).nonzero().flatten():
        total = total * 2 + x[index]
    return total


@program(
    inputs=[lambda: (ints(2, 0, 1), vec(1, 2, 3)), lambda: (ints(0, 0, 0), vec(-1, 2, 3)), lambda: (ints(), vec(1))]
)
def loop_over_a_list_of_integers(order, x):
    total = torch.tensor(0.0)
    for i in order.tolist():
        total = total * 0.5 + x[i]
    return total


@program(inputs=[lambda: (vec(1, -2, 3),), lambda: (vec(-1, -2),), lambda: (vec(),)])
def range_of_len_with_a_branch(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total = total + x[i]
        else:
            total = total - 1
    return total + torch.zeros(())


@program(inputs=[lambda: (randn(3, 2), [1.0, 0.0, 2.0]), lambda: (randn(1, 2), [3.0])])
def rows_zipped_with_a_python_list(matrix, weights):
    state = torch.zeros(2)
    for row, weight in zip(matrix, weights):
        if weight > 0 and row.sum() > 0:
            state = state + weight * row
    return state


@program(inputs=[lambda: (integer(3),), lambda: (integer(1),), lambda: (integer(0),)])
def reversed_range_of_a_tensor(n):
    digits = torch.tensor(0)
    for i in reversed(range(n)):
        digits = digits * 10 + i
    return digits


MASKED = [lambda: (vec(1, 2, -3), flags(True, False, True)), lambda: (vec(-1, 2, 5), flags(False, False, False))]


@program(inputs=MASKED)
def rows_that_a_mask_of_the_caller_chooses(x, mask):
    t = torch.zeros(())
    for row in (x * 2)[mask]:
        t = t + row
    return t


@program(inputs=MASKED)
def some_of_the_rows_of_two_masks(x, mask):
    t = torch.ones(())
    for i, row in enumerate((x if x[0] > 0 else -x)[mask]):
        if row > 2:
            break
        t = t + row * i
    for a, b in zip(x[mask], x[~mask]):  # noqa: B905 (as users write it)
        t = t + a * b
    return t


def summed(rows):
    total = torch.zeros(())
    for row in rows:
        total = total + row.sum()
    return total


@program(inputs=MASKED)
def helper_that_runs_over_whatever_it_is_given(x, mask):
    total = summed(x[mask])
    return total * 2 if total > 0 else summed(x)


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(40, 2, 3),)])
def a_test_on_the_position_in_a_loop_that_data_leaves(x):
    for i in range(20):
        if i > 5:
            x = x + 1
        x = x * 1.01
        if x.sum() > 100:
            break
    return x, i


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(0, 0, 0),)])
def what_the_first_trip_does_not_have(x):
    before = None
    for i in range(10):
        norm = x.norm()
        if i > 0:
            if (norm - before).abs() < 1e-3:
                break
        before = norm
        x = x * 0.7
    return x, i, norm


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(100, 100, 100),)])
def a_loop_that_data_leaves_in_all_trips_but_the_last(x):
    for i in range(10):
        if i < 9:
            x = x * 0.7
            if x.norm() < 1:
                break
    return x, i


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(10, 20, 3),)])
def every_third_trip_of_a_loop_that_data_leaves(x):
    checks = 0
    for i in range(12):
        x = x * 1.1
        if (i + 1) % 3 == 0:
            checks += 1
            if x.norm() > 20:
                break
    return x, checks


@program(inputs=[lambda: (vec(8, 4), 20), lambda: (vec(0.1, 0), 20), lambda: (vec(8, 4), 3), lambda: (vec(8, 4), 0)])
def position_that_is_printed_in_a_long_range(x, n):
    for i in range(n):
        x = x * 0.5
        if i % 4 == 0:
            print(f"trip {i:3d}", i)
        if x.sum() < 0.1:
            print("left at", i)
            break
    return x


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(0.5, -1, 2),)])
def numbers_of_a_tensor(x):
    out, i = x, 5
    for i, v in enumerate(x.tolist()):
        if v > 0:
            out = out + v
        elif v < -1.5:
            break
    return out, i


ROOTS = [lambda: (vec(1, 3),), lambda: (vec(0.4143, 0.4143),), lambda: (vec(1e9, 2),)]


@program(grad=True, inputs=ROOTS)
def position_that_is_returned_from_a_long_range(x):
    z = x.abs() + 1
    for i in range(20):
        f = z * z - 2
        if f.abs().max() < 1e-3:
            return z, i
        z = z - f / (2 * z)
    return z, -1


@program(grad=True, inputs=ROOTS)
def position_of_the_best_trip_of_a_long_range(x):
    best, best_at, bad = x.sum() + 1e12, -1, 0
    for i in range(30):
        loss = ((x - 3) ** 2).sum() + (i % 5) * 0.3
        if loss < best:
            best, best_at = loss, i
            bad = 0
        else:
            bad += 1
        if bad > 3:
            break
        x = x * 0.8
    return best, best_at, x


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(9, 9, 9),)])
def position_under_another_name_that_finds_an_element(x):
    last = 0
    for i in range(12):
        last = i
        if x.sum() > 20:
            break
        x = x * 1.3
    return x[last % 3], last / 2


def _counted(rows):
    count = 0
    for k, v in enumerate(rows.tolist()):
        if v > 1:
            count += k
    return count


def _positive(x):
    return x[x > 0]


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(9, 9, -1),)])
def list_of_as_many_numbers_as_data_tell(x):
    return _counted(x), _counted(_positive(x))


@program(
    inputs=[lambda: (vec(1, 2), scalar(-1)), lambda: (vec(1, 2), scalar(0.5)), lambda: (vec(1, 2), scalar(2))],
    refused="a branch of a trip gives the argument, or a tensor that the next trip writes to",
)
def bound_from_a_choice_that_reads_what_trips_bind(x, s):
    for _ in range(len(x) if s > 1 else len(x)):
        rest = x[1:]
        rest *= 0.5
        if s > 0:
            x = torch.tanh(x)
    return x
