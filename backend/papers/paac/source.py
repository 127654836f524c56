"""The paper as its numbers cite it, and what all of its studies have in common."""

from backend.papers.definition import Difference

SOURCE = "PAAC (Clemente et al. 2017)"
SIZES = (16, 32, 64, 128, 256)

HOST = Difference(
    "host",
    "4 cores (Intel i7-4790K) and a GPU (GTX 980 Ti)",
    "this host",
    "speeds of different hosts are not compared: shares of time are, each host by itself",
)
RATE = Difference(
    "learning rate over time",
    "not stated",
    "falls to 0 over the share of the budget that is chosen",
    "the authors' code lowers it to 0 over the training",
)
PREPROCESSING = Difference(
    "screens",
    "the maximum over two frames, then one channel",
    "one channel, then the maximum",
    "the emulator's own preprocessing; docs/evaluation.md has what differs",
)
ENVIRONMENTS = Difference(
    "stepping",
    "the master waits while all environments step",
    "environments step in two halves: one half steps while the network acts for the other",
    "it trains faster; the share of the environments is then the time that is really waited for them",
)
