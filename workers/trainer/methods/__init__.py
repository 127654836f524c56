"""The methods: a folder for each family, which reads like its paper, and one line for each method here.

To add one: write its configuration (`workers/contract/config/`, with a line in the union there), its folder with a
`Method` in `__init__.py`, its line below, and a preset (`workers/contract/presets/`).
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
