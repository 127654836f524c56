"""Tests that the ONNX model of an agent file computes the same as the network."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
import torch.nn.functional as F

from arcadia_workers.contract.agents import document as names
from arcadia_workers.contract.config import config_adapter
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.trainer.games import subjects
from tests.workers.trainer.agents.made_agents import TITLES, UnpackedAgent, config_of, random_states, unpacked

TOLERANCE = 1e-5


def session_of(agent: UnpackedAgent) -> Any:
    """Return a session of onnxruntime."""
    return onnxruntime.InferenceSession(str(agent.folder / names.ONNX), providers=["CPUExecutionProvider"])


@pytest.mark.required_cases(2)
@pytest.mark.parametrize("title", TITLES)
def test_outputs_of_the_onnx_model_equal_those_of_torch(tmp_path: Path, title: str) -> None:
    agent = unpacked(tmp_path, config_of(title))
    shape = agent.document["network"]
    states = random_states(shape["observation_shape"], pixels=agent.document["environment"]["pixels"])
    checkpoint, config = subjects.read(agent.directory, None)
    protocol = next(protocol for protocol in PROTOCOLS.values() if protocol.fits(config.environment.family))
    network = subjects.agent_subject(checkpoint, config_adapter.validate_python(config), protocol, None).network
    session = session_of(agent)
    memory = network.initial_memory(len(states))
    cells = [{f"h{i}": h.numpy().copy(), f"c{i}": c.numpy().copy()} for i, (h, c) in enumerate(memory)]
    # In the second round, an LSTM reads the state that it wrote.
    for _ in range(2):
        given = {name: value for each in cells for name, value in each.items()}
        found = dict(
            zip(
                [each.name for each in session.get_outputs()],
                session.run(None, {"observations": states, **given}),
                strict=True,
            )
        )
        output, memory = network.predict(torch.from_numpy(states), memory)
        size = found["mean"].shape[1] if "mean" in found else 0
        if "action_values" in found:
            expected = {"action_values": output.numbers}
        else:
            expected = {"value": output.values.unsqueeze(1)}
            expected |= (
                {"logits": output.numbers}
                if "logits" in found
                else {"mean": output.numbers[:, :size], "variance": F.softplus(output.numbers[:, size:])}
            )
        expected |= {
            f"next_{kind}{i}": state for i, pair in enumerate(memory) for kind, state in zip("hc", pair, strict=True)
        }
        assert found.keys() == expected.keys()
        for name, tensor in expected.items():
            assert np.abs(found[name] - tensor.numpy()).max() <= TOLERANCE, name
        cells = [{f"{kind}{i}": found[f"next_{kind}{i}"] for kind in "hc"} for i in range(len(memory))]
