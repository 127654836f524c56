"""Models of Stable-Baselines3, which play the same way in Arcadia."""

import io
import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import stable_baselines3
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from arcadia_backend.agents.opening import open_agent
from arcadia_backend.agents.service import to_checkpoint
from arcadia_backend.agents.stable_baselines import read_tensors
from arcadia_workers.contract.action_names import Continuous, Discrete
from arcadia_workers.contract.config import config_adapter
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.run import checkpoints
from tests.backend.agents.conftest import Agents, pack, unpack

LIMIT = 1_000_000_000


class Screens(gymnasium.Env[Any, Any]):
    """An environment with the spaces of Pong."""

    observation_space = gymnasium.spaces.Box(0, 255, (4, 84, 84), np.uint8)
    action_space = gymnasium.spaces.Discrete(6)


def saved(model: Any, folder: Path) -> Path:
    """Save a model with weights that make it act. Return its path."""
    with torch.no_grad():
        for name, parameter in model.policy.named_parameters():
            if name == "log_std":
                parameter.sub_(torch.linspace(0, 1, parameter.shape[-1]))
            elif "cnn" not in name:
                parameter.mul_(2)
    model.save(folder / "model.zip")
    return folder / "model.zip"


def load(path: Path, env: str) -> Any:
    """Return the network and the configuration that Arcadia makes from a model."""
    agent = open_agent(path, LIMIT, env)
    state, config = checkpoints._parse(to_checkpoint(agent))
    validated = config_adapter.validate_python(config)
    shape = (4, 84, 84) if validated.environment.shows_pixels else (gymnasium.make(env).observation_space.shape or ())
    space: Any = Screens.action_space if validated.environment.shows_pixels else gymnasium.make(env).action_space
    actions = (
        Discrete(int(space.n))
        if isinstance(space, gymnasium.spaces.Discrete)
        else Continuous(tuple(map(float, space.low)), tuple(map(float, space.high)))
    )
    return TRAINERS[validated.algorithm].load_network(validated, shape, actions, state)


def states_of(env: str) -> Any:
    """Return observations of an environment."""
    random = np.random.default_rng(1)
    if env.startswith("ALE/"):
        return random.integers(256, size=(64, 4, 84, 84), dtype=np.uint8)
    space: Any = gymnasium.make(env).observation_space
    return random.normal(size=(64, *space.shape)).astype(np.float32)


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("kind", ["PPO", "A2C"])
@pytest.mark.parametrize(
    ("env", "options"),
    [
        ("CartPole-v1", {}),
        ("CartPole-v1", {"net_arch": [32, 32, 32], "activation_fn": torch.nn.ReLU}),
        ("ALE/Pong-v5", {}),
        ("Pendulum-v1", {"log_std_init": -0.5}),
        ("LunarLanderContinuous-v3", {}),
    ],
)
def test_policies_have_the_same_outputs(tmp_path: Path, kind: str, env: str, options: dict[str, Any]) -> None:
    pixels = env.startswith("ALE/")
    made = getattr(stable_baselines3, kind)(
        "CnnPolicy" if pixels else "MlpPolicy", Screens() if pixels else env, policy_kwargs=options, device="cpu"
    )
    network, states = load(saved(made, tmp_path), env), states_of(env)
    output, _ = network.predict(torch.from_numpy(states), network.initial_memory(len(states)))
    with torch.no_grad():
        given = torch.from_numpy(states).float() if not pixels else torch.from_numpy(states)
        distribution = made.policy.get_distribution(given).distribution
        values = made.policy.predict_values(given).squeeze(1)
    assert torch.allclose(output.values, values, atol=1e-5)
    if isinstance(distribution, torch.distributions.Normal):
        size = distribution.mean.shape[1]
        assert torch.allclose(output.numbers[:, :size], distribution.mean, atol=1e-5)
        variance = torch.nn.functional.softplus(output.numbers[:, size:])
        assert torch.allclose(variance, distribution.variance, atol=1e-5)
    else:
        assert torch.allclose(output.numbers.log_softmax(-1), distribution.logits, atol=1e-5)


@pytest.mark.parametrize("env", ["CartPole-v1", "ALE/Pong-v5"])
def test_dqn_has_the_same_action_values(tmp_path: Path, env: str) -> None:
    pixels = env.startswith("ALE/")
    made = stable_baselines3.DQN(
        "CnnPolicy" if pixels else "MlpPolicy", Screens() if pixels else env, buffer_size=10, device="cpu"
    )
    network, states = load(saved(made, tmp_path), env), states_of(env)
    output, _ = network.predict(torch.from_numpy(states), ())
    with torch.no_grad():
        expected = made.q_net(torch.from_numpy(states))
    assert torch.allclose(output.numbers, expected, atol=1e-5)


def test_a_model_becomes_a_run_with_its_settings(agents: Agents, tmp_path: Path) -> None:
    made = stable_baselines3.PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16, gamma=0.97, device="cpu")
    made.learn(32)
    content = saved(made, tmp_path).read_bytes()
    result = agents.load(content, env="CartPole", name="Theirs")
    run = agents.api.run(result["run_id"])
    assert (run["name"], run["algorithm"], run["env"], run["step"]) == ("Theirs", "PPO", "CartPole-v1", 32)
    assert run["origin_label"] == f"Stable-Baselines3 {stable_baselines3.__version__}"
    assert run["config"]["gamma"] == 0.97
    assert agents.api.evaluate(result["run_id"])["acting"] == {"name": "sampled", "epsilon": None}
    document = json.loads(unpack(agents.export(result["run_id"]))["agent.json"])
    assert document["method"] == {"algorithm": "PPO", "title": "PPO"}
    again = agents.load(agents.export(result["run_id"]))
    assert again == {**result, "already": True}


def test_the_environment_is_required_and_must_fit(agents: Agents, tmp_path: Path) -> None:
    made = stable_baselines3.DQN("MlpPolicy", "CartPole-v1", buffer_size=10, device="cpu")
    content = saved(made, tmp_path).read_bytes()
    assert "Name its environment" in agents.refusal(content)
    assert "has 2 actions, but Acrobot-v1 has 3" in agents.refusal(content, env="Acrobot-v1")
    assert "actions are continuous" in agents.refusal(content, env="Pendulum-v1")
    assert "network: mlp reads vectors" in agents.refusal(content, env="pong")


class Extractor(BaseFeaturesExtractor):
    """A custom feature extractor."""

    def __init__(self, space: gymnasium.Space[Any]) -> None:
        super().__init__(space, features_dim=4)
        self.own = torch.nn.Linear(4, 4)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the features."""
        result: torch.Tensor = self.own(observations)
        return result


@pytest.mark.parametrize(
    ("options", "env", "reason"),
    [
        ({"net_arch": [64, 32]}, "CartPole-v1", "hidden layers have 32 and 64 units"),
        ({"net_arch": {"pi": [8, 8], "vf": [8]}}, "CartPole-v1", "2 hidden layers and its value network 1"),
        ({"net_arch": []}, "CartPole-v1", "no hidden layers"),
        ({"activation_fn": torch.nn.ELU}, "CartPole-v1", "the activation"),
        ({"features_extractor_class": Extractor}, "CartPole-v1", "no place"),
    ],
)
def test_other_networks_are_refused(
    agents: Agents, tmp_path: Path, options: dict[str, Any], env: str, reason: str
) -> None:
    made = stable_baselines3.PPO("MlpPolicy", env, policy_kwargs=options, device="cpu")
    assert reason in agents.refusal(saved(made, tmp_path).read_bytes(), env=env)


def test_other_methods_are_refused(agents: Agents, tmp_path: Path) -> None:
    made = stable_baselines3.SAC("MlpPolicy", "Pendulum-v1", buffer_size=10, device="cpu")
    assert "not one of PPO, A2C or DQN" in agents.refusal(saved(made, tmp_path).read_bytes(), env="Pendulum-v1")
    sde = stable_baselines3.PPO("MlpPolicy", "Pendulum-v1", use_sde=True, device="cpu")
    assert "use_sde" in agents.refusal(saved(sde, tmp_path).read_bytes(), env="Pendulum-v1")


def test_settings_that_are_not_json_are_refused(agents: Agents, tmp_path: Path) -> None:
    made = stable_baselines3.PPO("MlpPolicy", "CartPole-v1", device="cpu")
    members = unpack(saved(made, tmp_path).read_bytes())
    assert "data is not JSON" in agents.refusal(pack({**members, "data": b"\x80\x04"}), env="CartPole-v1")
    assert "data is not an object" in agents.refusal(pack({**members, "data": b"[]"}), env="CartPole-v1")
    del members["data"]
    assert "data with its settings is missing" in agents.refusal(pack(members), env="CartPole-v1")


def test_a_pickled_setting_is_never_unpickled(agents: Agents, tmp_path: Path) -> None:
    made = stable_baselines3.PPO("MlpPolicy", "CartPole-v1", device="cpu")
    members = unpack(saved(made, tmp_path).read_bytes())
    data = json.loads(members["data"])
    data["policy_kwargs"] = {":type:": "<class 'dict'>", ":serialized:": "gASVIQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOU"}
    assert agents.load(pack({**members, "data": json.dumps(data).encode()}), env="CartPole-v1")["run_id"]


def test_weights_are_read_as_torch_reads_them() -> None:
    shared = torch.arange(24.0).reshape(2, 3, 4)
    tensors = {"a": shared, "part": shared[1], "half": torch.ones(3).half(), "scalar": torch.tensor(2.0)}
    file = io.BytesIO()
    torch.save(tensors, file)
    found = read_tensors(file)
    file.seek(0)
    expected = torch.load(file, weights_only=True)
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert np.array_equal(found[name].to_float32(), tensor.float().numpy())
