"""Shortcuts for the projects API."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.factories import Client, Response


@dataclass(frozen=True)
class Projects:
    """Shortcuts for the projects API, which fail on errors."""

    user: Client

    def create(self, name: str, **more: Any) -> dict[str, Any]:
        """Create a project."""
        return self.read_body(self.post("", name=name, **more), 201)

    def read(self, name: str) -> dict[str, Any]:
        """Read a project by its name."""
        (number,) = (each["id"] for each in self.list() if each["name"] == name)
        return self.read_body(self.user.get(f"/api/v1/projects/{number}"))

    def list(self) -> list[dict[str, Any]]:
        """List the projects."""
        listed: list[dict[str, Any]] = self.user.get("/api/v1/projects").raise_for_status().json()
        return listed

    def counts(self) -> dict[str, tuple[int, int, int]]:
        """Return the numbers of runs, studies and reports of each project."""
        return {each["name"]: (each["runs"], each["studies"], each["reports"]) for each in self.list()}

    def edit(self, number: int, **changes: Any) -> Response:
        """Change a project."""
        return self.user.patch(f"/api/v1/projects/{number}", json=changes)

    def post(self, path: str, **body: Any) -> Response:
        """Send a POST request to the projects API."""
        return self.user.post(f"/api/v1/projects{path}", json=body)

    @staticmethod
    def read_body(response: Response, status: int = 200) -> dict[str, Any]:
        """Return the body of a response with this status."""
        assert response.status_code == status, response.text
        body: dict[str, Any] = response.json()
        return body


@pytest.fixture
def projects(api: Any) -> Projects:
    """Return shortcuts for the projects API."""
    return Projects(api.user)
