"""Registry of the methods. Each family has a folder that reads like its paper.

`docs/extending.md` describes how to add a method.
"""

from typing import Any

from workers.trainer.methods.asynchronous import A3C, N_STEP_Q, ONE_STEP_Q, ONE_STEP_SARSA
from workers.trainer.methods.ga3c import GA3C
from workers.trainer.methods.gorila import GORILA
from workers.trainer.methods.method import Method
from workers.trainer.methods.paac import PAAC, PAAC_Q

METHODS: dict[str, Method[Any]] = {
    method.algorithm: method
    for method in (
        A3C,
        ONE_STEP_Q,
        ONE_STEP_SARSA,
        N_STEP_Q,
        PAAC,
        PAAC_Q,
        GA3C,
        GORILA,
    )
}
