"""Log calls and warnings: level, text, arguments, and the place that they name."""

# ruff: noqa: UP031, UP032, F841, C416 (the ways in which users write it)

import logging
import warnings
from logging import getLogger
from warnings import warn

import torch
from torch import nn

from tests.harness import integer, program, vec

logger = logging.getLogger("programs")
logger.setLevel(logging.DEBUG)
LOG = logging.getLogger("programs.upper")
LOG.setLevel(logging.INFO)
quiet = logging.getLogger("programs.quiet")
quiet.setLevel(logging.ERROR)

BOTH = [lambda: (vec(3, 4),), lambda: (vec(-1, -2),)]


@program(inputs=BOTH)
def lazy_arguments(x):
    logger.info("sum %s of %d, max %.2f", x.sum(), x.shape[0], x.max())
    logger.debug("no arguments")
    LOG.debug("below the level %s", x)
    LOG.warning("x is %r", x)
    return x


@program(inputs=BOTH)
def all_levels(x):
    logger.debug("a")
    logger.info("b")
    logger.warning("c")
    logger.error("d")
    logger.critical("e")
    logger.log(logging.WARNING, "f %s", x.sum().item())
    return x


@program(inputs=BOTH)
def log_by_branch(x):
    if x.sum() > 0:
        logger.warning("positive: %.1f", x.sum().item())
        x = x * 2
    else:
        logger.error(f"negative: {x.sum().item():.1f}")
    logger.info("after")
    return x


@program(inputs=[lambda: (integer(0),), lambda: (integer(1),), lambda: (integer(3),)])
def log_in_a_loop(n):
    total = torch.tensor(0)
    for i in range(n):
        logger.info("trip %d", i)
        total = total + i
    logger.info("total %d", total.item())
    return total


@program(inputs=BOTH)
def below_the_level(x):
    if x.sum() > 0:
        quiet.info("not seen %s", x)
    quiet.error("seen")
    return x


@program(inputs=BOTH, refused="torch.compile does not take isEnabledFor")
def guarded_by_level(x):
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("sum %s", x.sum())
    if quiet.isEnabledFor(logging.DEBUG):
        quiet.debug("sum %s", x.sum())
    return x


@program(inputs=BOTH)
def module_level_logging(x):
    logging.warning("sum %.1f", x.sum().item())
    if x.sum() > 0:
        logging.error("positive")
    return x


@program(inputs=BOTH, refused="torch.compile does not take getLogger")
def logger_found_inside(x):
    log = getLogger("programs.inside")
    log.warning("here %s", x.sum().item())
    if x.sum() > 0:
        log.error("positive")
    return x


@program(inputs=BOTH)
class LoggerOfAModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.logger = logging.getLogger("programs.module")
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        self.logger.warning("input %s", x.sum().item())
        y = self.layer(x)
        if x.sum() > 0:
            self.logger.error("positive")
            y = y + 1
        return y


def helper(x):
    logger.info("helper %s", x.sum().item())
    if x.sum() > 0:
        logger.warning("helper positive")
    warnings.warn("from the helper")
    warnings.warn("about the caller", stacklevel=2)
    return x * 2


@program(inputs=BOTH)
def in_a_called_function(x):
    y = helper(x)
    if x.sum() > 0:
        y = helper(y)
    return y


@program(inputs=BOTH)
def warning_categories(x):
    warnings.warn("plain")
    warnings.warn("category", RuntimeWarning)
    warnings.warn("keyword", category=DeprecationWarning)
    warnings.warn(FutureWarning("an instance"))
    return x


@program(inputs=BOTH)
def warning_by_branch(x):
    if x.min() < 0:
        warnings.warn(f"negative values, lowest {x.min().item():.1f}", UserWarning)
        x = x.clamp(min=0)
    return x


@program(inputs=BOTH)
def imported_warn(x):
    warn("imported", RuntimeWarning)
    if x.sum() > 0:
        warn("positive")
    return x


@program(inputs=BOTH)
def stacklevel_of_one_and_two(x):
    warnings.warn("one", stacklevel=1)
    if x.sum() > 0:
        warnings.warn("one in a branch", stacklevel=1)
    warnings.warn("two", stacklevel=2)
    return x


@program(inputs=BOTH, refused="torch.compile does not take warning filters")
def filters_inside(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("hidden")
    warnings.warn("shown")
    return x


@program(inputs=BOTH)
def warning_in_a_loop(x):
    for k in range(3):
        if x.sum() > k:
            warnings.warn("large")
        x = x - 2
    return x


@program(inputs=BOTH)
def prints_logs_and_warnings_in_order(x):
    print("1")
    logger.info("2")
    warnings.warn("3")
    if x.sum() > 0:
        print("4")
        warnings.warn("5")
        logger.info("6")
    print("7")
    return x


@program(inputs=BOTH)
def log_with_extra_and_stack(x):
    logger.info("extra", extra={"step": 3})
    logger.warning("level two", stacklevel=2)
    return x


@program(inputs=BOTH, refused="torch.compile does not take getLogger")
def child_and_root(x):
    logging.getLogger().error("root %s", x.shape)
    logging.getLogger("programs.child").error("child %d", 1)
    return x


@program(inputs=BOTH)
def mapping_argument(x):
    logger.info("%(a)s and %(b).1f", {"a": 1, "b": x.sum().item()})
    return x


@program(inputs=[lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),)], grad=True)
def logs_in_training(x):
    while x.norm() > 1:
        logger.info("norm %.3f", x.norm().item())
        x = x * 0.5
    warnings.warn("done")
    return x.sum()


class Tracker:
    def info(self, text):
        self.text = text


@program(inputs=BOTH)
def method_with_the_name_of_a_log_method(x):
    logger = Tracker()
    logger.info("kept")
    return x, logger.text


@program(inputs=BOTH)
def state_dict_logging(x):
    logs = {"loss": x.mean().item(), "max": x.max().item()}
    logger.info("stats %s", logs)
    logger.info("loss=%(loss).2f", logs)
    for k, v in logs.items():
        print(f"{k}: {v:.3f}")
    print(" | ".join(f"{k}={v:.2f}" for k, v in logs.items()))
    return logs


@program(inputs=BOTH)
def nan_check(x):
    loss = x.log().sum()
    if torch.isnan(loss):
        print("nan loss, skipping")
        warnings.warn("nan")
        return x * 0
    logger.info("loss %s", loss.item())
    return x / loss


class OnceLogger(logging.Logger):
    """As many libraries have it: the same message is logged once."""

    def __init__(self, name):
        super().__init__(name)
        self.seen = set()

    def warning_once(self, message):
        if message not in self.seen:
            self.seen.add(message)
            self.warning(message)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], factory=True)
def messages_that_are_logged_once():
    logger = OnceLogger("once")
    logger.parent = logging.getLogger()

    def step(x):
        for _ in range(2):
            if x.sum() > 0:
                logger.warning_once("positive")
        logger.warning_once("any")
        return x * 2

    return step


@program(inputs=[lambda: (vec(0.5, 0.7, 9.0, 0.1),), lambda: (vec(1, 1, 1),), lambda: (vec(-9, 0, 9),)])
def logged_in_a_later_trip_of_a_branch(x):
    mean, found = 0.0, []
    for i, v in enumerate(x.tolist()):
        if abs(v - mean) > 3:
            found.append(i)
            logger.warning("anomaly at %d: %.2f", i, v)
        else:
            mean = 0.7 * mean + 0.3 * v
    return len(found), mean
