"""Tests that environments of plug-ins use the general code path, and that unsupported spaces are refused."""

from collections.abc import Iterator
from typing import Any, cast

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from arcadia_workers.contract.plugins.loading import load
from arcadia_workers.trainer.environments.environments import GymnasiumEnvironments, UnsupportedSpaceError
from arcadia_workers.trainer.games.games import GymnasiumGame
from tests.plugin_packages import Site

PACKAGE = """
    from arcadia.plugins import CLASSIC_CONTROL, MUJOCO, Environment, Plugin
    PARTS = Plugin(
        interface=1,
        provides=[
            Environment("Odd/Made-v0", "Made", {family}, actions={actions!r}, observations={observations!r})
        ],
    )
"""
VECTOR, THREE = spaces.Box(-1, 1, (2,), np.float32), spaces.Discrete(3)


Space = spaces.Space[Any]


class Made(gymnasium.Env[Any, Any]):
    """An environment with given spaces and episodes of two steps."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, seen: Space, taken: Space, render_mode: str | None = None) -> None:
        self.observation_space, self.action_space, self.render_mode = seen, taken, render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        assert action in self.action_space
        return self.observation_space.sample(), 1.0, self.steps == 2, False, {}

    def render(self) -> Any:
        return np.zeros((8, 8, 3), np.uint8)


def opened(
    site: Site,
    seen: Space,
    taken: Space,
    *,
    actions: str = "discrete",
    observations: str = "vector",
    family: str = "CLASSIC_CONTROL",
) -> GymnasiumEnvironments:
    """Open two environments of a plug-in with these spaces."""
    site.install("odd", PACKAGE.format(actions=actions, observations=observations, family=family))
    load(["odd"])
    gymnasium.register("Odd/Made-v0", entry_point=cast(Any, Made), kwargs={"seen": seen, "taken": taken})
    return GymnasiumEnvironments("Odd/Made-v0", 2, 1)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    yield
    gymnasium.registry.pop("Odd/Made-v0", None)


@pytest.mark.parametrize(
    ("seen", "size"),
    [
        (VECTOR, 2),
        (spaces.Dict({"eye": spaces.Box(0, 255, (3, 3), np.uint8), "door": spaces.Discrete(4)}), 13),
        (spaces.Box(0, 255, (7, 7, 3), np.uint8), 147),
        (spaces.Tuple((spaces.Discrete(2), spaces.MultiBinary(3))), 5),
        (spaces.Dict({"mission": spaces.Text(5), "place": VECTOR}), 7),
    ],
    ids=["vector", "dictionary", "picture", "tuple", "text"],
)
def test_observations_become_one_vector(site: Site, seen: Space, size: int) -> None:
    batch = opened(site, seen, THREE)
    assert batch.observation_shape == (size,)
    assert batch.reset().shape == (2, size)
    for _ in range(3):
        batch.send(np.array([0, 2]))
        step = batch.receive()
    assert step.observations.shape == (2, size)
    assert step.fresh.all()
    batch.close()
    game = GymnasiumGame("Odd/Made-v0", filmed=True)
    game.begin(1)
    pictures: list[object] = []
    game.show(pictures.append)
    game.step(1)
    assert game.observation.shape == (size,)
    assert len(pictures) == 2
    assert game.action_names == ("action 1", "action 2", "action 3")
    game.close()


def test_observations_of_the_physics_family_are_also_flattened(site: Site) -> None:
    opened(site, spaces.Dict({"place": VECTOR, "door": spaces.Discrete(4)}), THREE, family="MUJOCO").close()
    game = GymnasiumGame("Odd/Made-v0")
    game.begin(1)
    assert game.observation.shape == game.observation_shape == (6,)
    game.close()


@pytest.mark.parametrize(
    ("seen", "taken", "more", "reason"),
    [
        (spaces.Sequence(VECTOR), THREE, {}, "which has no fixed size, so no network can read it"),
        (VECTOR, THREE, {"observations": "pixels"}, r"networks for pixels read bytes in \(frames, 84, 84\)"),
        (VECTOR, THREE, {"actions": "continuous"}, "a bounded Box of one dimension"),
        (VECTOR, spaces.MultiDiscrete([2, 2]), {}, "Discrete actions from 0"),
        (VECTOR, spaces.Discrete(3, start=1), {}, "Discrete actions from 0"),
        (VECTOR, spaces.Box(-np.inf, np.inf, (2,)), {"actions": "continuous"}, "a bounded Box of one dimension"),
        (VECTOR, spaces.Box(-1, 1, (2, 2)), {"actions": "continuous"}, "a bounded Box of one dimension"),
    ],
)
def test_unsupported_spaces_are_refused(
    site: Site,
    seen: Space,
    taken: Space,
    more: dict[str, str],
    reason: str,
) -> None:
    with pytest.raises(UnsupportedSpaceError, match=reason):
        opened(site, seen, taken, **more)
