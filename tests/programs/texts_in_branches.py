"""Strings that are put together on the paths that data take, for a print or an exception."""

from tests.harness import program, vec

VALUES = [lambda: (vec(1, 3),), lambda: (vec(-1, -3),), lambda: (vec(1, -1.5),), lambda: (vec(9, 2),)]


@program(inputs=VALUES)
def problems_that_are_raised(x):
    problems = []
    if x.isnan().any():
        problems.append("nan")
    if (x < 0).any():
        problems.append(f"{int((x < 0).sum())} negative")
    if problems:
        raise ValueError("bad input: " + ", ".join(problems))
    return x.sqrt()


@program(inputs=VALUES)
def lines_of_elements(x):
    lines = []
    for i, v in enumerate(x):
        if v > 0:
            lines.append(f"{i}:{v:.1f}")
    print(", ".join(lines) if lines else "none")
    return len(lines)


@program(inputs=VALUES)
def message_that_gets_longer(x):
    message = "status:"
    if x.sum() > 0:
        message += f" sum={x.sum():.1f}"
    else:
        message += " low"
    if x.max() > 2:
        message = message + f" max={x.max():.1f}"
    print(message)
    return x * 2


@program(inputs=VALUES, grad=True)
def joined_text_with_a_name(x):
    parts = []
    parts.append(f"mean {x.mean().item():.2f}")
    if x.sum() > 0:
        parts.append("positive")
    message = " | ".join(parts)
    print(f"[{message}]", len(parts))
    return x * 3


@program(inputs=VALUES)
def text_of_numbers_in_a_loop(x):
    message = ""
    for v in x:
        message += f"{v:.1f},"
    print(message)
    return x.sum()


@program(inputs=VALUES)
def number_that_gets_larger_and_is_shown(x):
    count, label = 0, 1
    if x.sum() > 0:
        count += 1
    label = label + count
    label += 2
    print(label)
    return x


@program(inputs=VALUES)
def joined_list_that_is_returned(x):
    parts = []
    if x.sum() > 0:
        parts.append("positive")
    if x.max() > 2:
        parts.append("large")
    print("+".join(parts))
    return x, parts


class Average:
    """Its mean counts how often it is asked for, and fails for nothing."""

    def __init__(self, total, count):
        self.total = total
        self.count = count
        self.asked = 0

    @property
    def mean(self):
        self.asked += 1
        return self.total / self.count


@program(inputs=VALUES)
def a_property_in_an_arm_that_is_printed(x):
    one = Average(2.0, 4)
    print("nothing" if x.sum() <= 0 else f"mean {one.mean:.2f}")
    return one.asked


@program(inputs=VALUES)
def an_arm_that_would_fail_when_it_is_printed(x):
    one = Average(2.0, int((x > 0).sum()))
    print("first", "nothing" if one.count == 0 else f"mean {one.mean:.2f}", one.count)
    return one.count


@program(inputs=[lambda: (vec(1, 2.5),), lambda: (vec(float("inf"), 1),), lambda: (vec(-3, 1.5),)])
def an_integer_of_infinity_in_an_arm_that_is_printed(x):
    s = x.sum()
    print("overflow" if s.isinf() else f"steps {int(s)}")
    return s
