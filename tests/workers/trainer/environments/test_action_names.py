"""Tests that the actions of all environments outside the emulator have names."""

import gymnasium
import pytest

from arcadia_workers.contract.action_names import MUJOCO_JOINTS, NAMES, Continuous, action_names
from arcadia_workers.contract.games import ENVIRONMENTS, MUJOCO_TASKS
from arcadia_workers.trainer.environments.worlds.physics import redirect_warnings


@pytest.mark.parametrize("task", MUJOCO_TASKS)
def test_motors_of_mujoco_environments_are_named_after_their_joints(task: str) -> None:
    redirect_warnings()
    environment = gymnasium.make(f"{task}-v5")
    motors = environment.unwrapped.model.nu  # type: ignore[attr-defined]
    environment.close()
    assert len(MUJOCO_JOINTS[task]) == motors == len(set(MUJOCO_JOINTS[task]))
    for env in (f"{task}-v5", f"Arcadia/{task}Pixels-v0"):
        assert action_names(env, Continuous((-1.0,) * motors, (1.0,) * motors)) == MUJOCO_JOINTS[task]


def test_no_environment_outside_the_emulator_lacks_names() -> None:
    assert {env for env, facts in ENVIRONMENTS.items() if facts.family.simulator != "ale"} == NAMES.keys()
