"""Setup of the tests: load the package as Arcadia does."""

import torch
from arcadia.plugins import PLUGINS, load

load(["arcadia-ppo"])
assert PLUGINS["arcadia-ppo"].problem is None, PLUGINS["arcadia-ppo"].problem
# The trainer does the same for networks that read vectors. On busy cores, several threads wait for each other.
torch.set_num_threads(1)
