"""Agent files and shortcuts for the agents API."""

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.factories import Api, Client, checkpoint_path, sha256
from tests.factories import checkpoint as checkpoint_event
from tests.workers.trainer.agents.made_agents import STEP, TITLES, config_of, save_checkpoint

Members = dict[str, bytes]


@dataclass(frozen=True)
class Agents:
    """Shortcuts for the agents API."""

    api: Api
    folder: Path

    @property
    def user(self) -> Client:
        """Return the client of a user."""
        return self.api.user

    def start(self, title: str = "cartpole", **more: Any) -> tuple[int, int]:
        """Return a run with a checkpoint of fresh weights, and its attempt."""
        config = config_of(title)
        path = save_checkpoint(self.folder, config)
        content = path.read_bytes()
        run_id, attempt = self.api.running(config={**TITLES[title], "total_steps": 100_000}, **more)
        self.api.upload(run_id, attempt, checkpoint_path(STEP), content)
        event = checkpoint_event(2, STEP, content, return_mean=5.0, best=True)
        assert self.api.send(run_id, attempt, event).is_success
        return run_id, attempt

    def train(self, title: str = "cartpole", **more: Any) -> int:
        """Return a finished run with a checkpoint of fresh weights."""
        run_id, attempt = self.start(title, **more)
        assert self.api.release(run_id, attempt, "finished").is_success
        return run_id

    def export(self, run_id: int, **query: Any) -> bytes:
        """Download the agent file of a run."""
        response = self.user.get(f"/api/v1/runs/{run_id}/agent", params=query)
        assert response.status_code == 200, response.text
        return bytes(response.content)

    def load(self, content: bytes, **query: Any) -> dict[str, Any]:
        """Import an agent file."""
        response = self.user.post("/api/v1/agents", params=query, content=content)
        assert response.status_code == 201, response.text
        result: dict[str, Any] = response.json()
        return result

    def refusal(self, content: bytes, **query: Any) -> str:
        """Return why an agent file is refused."""
        response = self.user.post("/api/v1/agents", params=query, content=content)
        assert response.status_code == 422, response.text
        assert response.json()["type"].endswith("/bad-agent"), response.text
        return str(response.json()["detail"])


@pytest.fixture
def agents(api: Api, tmp_path: Path) -> Agents:
    """Return shortcuts for the agents API."""
    return Agents(api, tmp_path / "made")


def unpack(content: bytes) -> Members:
    """Return the members of a zip file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(members: Members) -> bytes:
    """Return a zip file with these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def edited(members: Members, **changes: Any) -> bytes:
    """Return an agent file with a changed agent.json, and with the right hashes of all members."""
    document = json.loads(members["agent.json"]) | changes
    document["contents"] = [
        {"path": path, "sha256": sha256(content), "bytes": len(content)}
        for path, content in members.items()
        if path != "agent.json"
    ]
    return pack(members | {"agent.json": json.dumps(document).encode()})
