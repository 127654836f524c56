"""Files that the agents API refuses."""

import json
import struct

import numpy as np
import pytest

from arcadia_backend.files import zip_files
from arcadia_workers.contract.agents import weights
from tests.backend.agents.conftest import Agents, Members, edited, pack, unpack


@pytest.fixture
def members(agents: Agents) -> Members:
    """Return the members of an agent file."""
    return unpack(agents.export(agents.train()))


def test_other_files_are_refused(agents: Agents) -> None:
    assert "it is not a zip file" in agents.refusal(b"PNG")
    assert "agent.json is missing" in agents.refusal(pack({}))
    assert "not a name that a member" in agents.refusal(pack({"archive.json": b"{}"}))


@pytest.mark.parametrize("name", ["../agent.json", "/etc/passwd", "weights/../../x", "a\\b"])
def test_names_that_leave_the_folder_are_refused(agents: Agents, members: Members, name: str) -> None:
    assert "not a name that a member" in agents.refusal(pack({**members, name: b"x"}))


def test_a_newer_format_is_refused(agents: Agents, members: Members) -> None:
    message = agents.refusal(edited(members, version=2, arcadia_version="9.9"))
    assert "made by a newer Arcadia (9.9, format 2)" in message
    assert "Update Arcadia" in message


def test_changed_members_are_refused(agents: Agents, members: Members) -> None:
    changed = members["weights.safetensors"][:-1] + b"\x01"
    assert "was changed or damaged" in agents.refusal(pack({**members, "weights.safetensors": changed}))
    missing = {name: content for name, content in members.items() if name != "weights.safetensors"}
    assert "is incomplete: weights.safetensors" in agents.refusal(pack(missing))
    assert "weights.safetensors is missing" in agents.refusal(edited(missing))


def test_a_member_before_the_beginning_of_the_file_is_refused(agents: Agents, members: Members) -> None:
    content = bytearray(pack(members))
    end = content.rindex(b"PK\5\6")
    (start,) = struct.unpack_from("<L", content, end + 16)
    struct.pack_into("<L", content, end + 16, start + 1_000_000)
    assert "a member is outside of it" in agents.refusal(bytes(content))


def test_a_pickle_that_crashes_its_parser_is_refused(agents: Agents) -> None:
    """The server answers, and goes on."""
    pickled = b"\x80\x02}(K\x01" + b"\x85" * 200_000 + b"K\x01u."
    policy = pack({"archive/data.pkl": pickled, "archive/byteorder": b"little"})
    message = agents.refusal(pack({"data": b"{}", "policy.pth": policy}), env="CartPole-v1")
    assert message == "The weights cannot be read: it is damaged or nests too deeply, so that its parser crashed."
    assert agents.user.get("/api/v1/health").status_code == 200


def test_a_zip_bomb_is_refused(agents: Agents, members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_files, "FREE_BYTES", 1_000_000)
    assert "made to fill disks" in agents.refusal(edited({**members, "agent.onnx": bytes(50_000_000)}))


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(agents: Agents, members: Members, number: float) -> None:
    tensors = weights.read(members["weights.safetensors"])
    tensors["value.bias"] = weights.of_array(np.array([number]))
    content = weights.pack(tensors, {})
    assert "NaN or infinite" in agents.refusal(edited({**members, "weights.safetensors": content}))


def test_weights_that_do_not_fit_are_refused(agents: Agents, members: Members) -> None:
    tensors = weights.read(members["weights.safetensors"])
    del tensors["value.bias"]
    content = weights.pack(tensors, {})
    assert "does not fit the network" in agents.refusal(edited({**members, "weights.safetensors": content}))
    assert "not a safetensors file" in agents.refusal(
        edited({**members, "weights.safetensors": (8).to_bytes(8, "little") + b"nonsense"})
    )
    huge = (1 << 62).to_bytes(8, "little") + b"{}"
    assert "its header is larger" in agents.refusal(edited({**members, "weights.safetensors": huge}))


def test_an_invalid_configuration_is_refused(agents: Agents, members: Members) -> None:
    config = json.loads(members["agent.json"])["config"]
    assert "env: unknown environment" in agents.refusal(edited(members, config={**config, "env": "os:system"}))
    assert "not valid" in agents.refusal(edited(members, config={"algorithm": "magic"}))
    assert "agent.json is not valid: step" in agents.refusal(edited(members, step=-1))


def test_an_unknown_environment_is_refused(agents: Agents) -> None:
    response = agents.user.post("/api/v1/agents", params={"env": "os:system"}, content=b"")
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "env"
