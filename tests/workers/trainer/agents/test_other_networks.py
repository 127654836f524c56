"""Tests for networks with parts that only plug-ins and other libraries use."""

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime
import torch

from arcadia_workers.contract.action_names import Continuous
from arcadia_workers.contract.agents import weights
from arcadia_workers.contract.agents.document import shape_of
from arcadia_workers.contract.agents.onnx_graph import to_onnx
from arcadia_workers.trainer.networks import agents
from arcadia_workers.trainer.networks.bodies import ReadingsFilter, VectorBody
from tests.workers.trainer.agents.made_agents import config_of, random_states, unpacked

ACTIONS = Continuous((-1.0, -1.0), (1.0, 1.0))


def player(tmp_path: Path) -> ModuleType:
    """Return play.py as a module."""
    return unpacked(tmp_path, config_of("cartpole")).player


def test_networks_with_filtered_readings_and_deviations_are_played_and_converted(tmp_path: Path) -> None:
    torch.manual_seed(1)
    config = config_of("continuous")
    agent = agents.Agent([VectorBody((3,), 64), VectorBody((3,), 64)], 0, ACTIONS)
    agent.policy = agents.GaussianHead(64, 2)
    torch.nn.init.uniform_(agent.policy.log_deviation, -2, 1)
    states = torch.from_numpy(random_states([3], pixels=False))
    for body in agent.trunks:
        assert isinstance(body, VectorBody)
        body.filter = ReadingsFilter((3,), 5.0)
        body.filter.see(3 * states[:64] + 1)
    named = {name: weights.of_array(tensor.detach().numpy()) for name, tensor in agent.state_dict().items()}
    config = config.model_copy(update={"activation": "tanh"})
    shape = shape_of(config, named)
    assert shape is not None
    assert (shape.filtered, shape.deviations) == (True, True)

    with torch.no_grad():
        numbers, values, _ = agent.step(10 * states, ())
    (tmp_path / "w").write_bytes(weights.pack(named, {}))
    module = player(tmp_path)
    network = module.Network(json.loads(shape.model_dump_json()), module.read_weights(tmp_path / "w"))
    played, _ = network(10 * states, [])
    assert torch.equal(played, numbers)

    session = onnxruntime.InferenceSession(to_onnx(shape, named, pixels=False, continuous=True))
    mean, variance, value = session.run(None, {"observations": 10 * states.numpy()})
    assert np.abs(mean - numbers[:, :2].numpy()).max() <= 1e-5
    assert np.abs(variance - torch.nn.functional.softplus(numbers[:, 2:]).numpy()).max() <= 1e-5
    assert np.abs(value[:, 0] - values.numpy()).max() <= 1e-5


def test_an_unknown_network_has_no_shape(tmp_path: Path) -> None:
    config = config_of("cartpole")
    path = unpacked(tmp_path, config).folder / "weights.safetensors"
    named = weights.read(path.read_bytes())
    assert shape_of(config, named) is not None
    assert shape_of(config, {**named, "attention.weight": named["value.weight"]}) is None
    assert shape_of(config, {name: each for name, each in named.items() if "value" not in name}) is None
    assert shape_of(config, {}) is None
