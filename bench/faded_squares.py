"""Measure an RMSProp step after mean squares have faded: `python -m bench.faded_squares --dead 0.5`.

Weights without gradients, such as those of dead units, have a mean square that shrinks by 1 % at each step. The program
measures the step with and without flushing numbers below 1e-38 to zero.
"""

import argparse
import statistics
import time

import torch
from torch import nn

from arcadia_workers.trainer.learning.optimizers import FlatParameters, RMSProp

# The hidden layer of arch_nips, which has nearly all of its weights.
HIDDEN = nn.Linear(2592, 256)
# 0.99^9,000 is below 1e-39.
FADING_STEPS = 9_000


def step_seconds(dead: float, flushes: bool, steps: int) -> float:
    """Return the median processor time of `steps` steps after `FADING_STEPS`."""
    torch.set_flush_denormal(flushes)
    parameters = FlatParameters(HIDDEN)
    alive = torch.rand(len(parameters.values), generator=torch.Generator().manual_seed(1)) >= dead
    parameters.gradients.copy_(alive * 1e-4)
    optimizer = RMSProp(parameters, decay=0.99, epsilon=0.1)
    optimizer.mean_square.mul_(torch.where(alive, 1.0, 0.99**FADING_STEPS))
    seconds = []
    for _ in range(steps):
        begin = time.thread_time()
        optimizer.step(learning_rate=1e-3)
        seconds.append(time.thread_time() - begin)
    return statistics.median(seconds)


def main() -> None:
    """Print both medians and their ratio."""
    parser = argparse.ArgumentParser(prog="python -m bench.faded_squares", description=__doc__)
    parser.add_argument("--dead", type=float, default=0.5, help="share of weights without a gradient")
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for _ in range(3):
        as_they_are, as_zero = (step_seconds(options.dead, flushes, options.steps) for flushes in (False, True))
        print(f"as they are {as_they_are * 1e3:.2f} ms, as zero {as_zero * 1e3:.2f} ms: {as_they_are / as_zero:.1f}")


if __name__ == "__main__":
    main()
