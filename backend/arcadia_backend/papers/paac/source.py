"""Citation of the PAAC paper, and differences that its studies share."""

from arcadia_backend.papers.definition import PaperDifference

SOURCE = "PAAC (Clemente et al. 2017)"
SIZES = (16, 32, 64, 128, 256)

HOST = PaperDifference(
    "host",
    "4 cores (Intel i7-4790K) and a GPU (GTX 980 Ti)",
    "this host",
    "speeds of different hosts are not comparable; shares of time on each host are",
)
RATE = PaperDifference(
    "learning rate over time",
    "not stated",
    "decays to 0 over the chosen share of the budget",
    "the authors' code decays it to 0 during training",
)
PREPROCESSING = PaperDifference(
    "screens",
    "the maximum over two frames, then one channel",
    "one channel, then the maximum",
    "it is the emulator's own preprocessing; docs/evaluation.md explains the difference",
)
ENVIRONMENTS = PaperDifference(
    "stepping",
    "the master waits while all environments step",
    "environments step in two halves: one steps while the network acts for the other",
    "it trains faster; the share of the environments is only the time spent waiting for them",
)
