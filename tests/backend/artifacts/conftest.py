"""A script that logs artifacts."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.backend.reported.conftest import Script
from tests.factories import Api, Response, sha256


@dataclass
class ArtifactScript(Script):
    """A reported run that logs artifacts."""

    def upload_file(self, content: bytes, digest: str | None = None) -> Response:
        """Upload a file of an artifact."""
        path = f"/api/v1/reported/runs/{self.run_id}/artifact-files/{digest or sha256(content)}"
        return self.user.put(path, params={"writer": self.writer}, content=content)

    def missing(self, *contents: bytes) -> list[str]:
        """Return the hashes of those contents that the server does not have."""
        path = f"/api/v1/reported/runs/{self.run_id}/artifact-files/missing"
        body = {"sha256": [sha256(content) for content in contents]}
        response = self.user.post(path, params={"writer": self.writer}, json=body)
        assert response.status_code == 200, response.text
        found: list[str] = response.json()["missing"]
        return found

    def log_artifact(self, name: str, files: dict[str, bytes], **more: Any) -> None:
        """Upload files, and log them as an artifact."""
        for content in files.values():
            assert self.upload_file(content).status_code == 200
        self.log_entries(name, [{"path": path, "sha256": sha256(content)} for path, content in files.items()], **more)

    def log_entries(self, name: str, entries: list[dict[str, Any]], **more: Any) -> None:
        """Log an artifact whose files are uploaded."""
        self.log("artifact", artifact={"name": name, "entries": entries, **more})

    def resolve(self, reference: str, **query: Any) -> dict[str, Any]:
        """Return the version that a reference names."""
        response = self.user.get("/api/v1/artifacts/resolve", params={"reference": reference, **query})
        assert response.status_code == 200, response.text
        version: dict[str, Any] = response.json()
        return version


def start_script(api: Api, key: str, **more: Any) -> ArtifactScript:
    """Return a script that has created its run."""
    script = ArtifactScript(api.user, key=key)
    assert script.begin(name=key, **more).status_code == 201
    return script


@pytest.fixture
def script(api: Api) -> ArtifactScript:
    """Return a script that has created its run."""
    return start_script(api, "trains")
