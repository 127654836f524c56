"""Requests made up from the API's own description: no call breaks the server or answers what it does not describe."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from backend.app import create_app
from backend.config import Settings
from tests.factories import Api

WORKER_TOKEN = "worker-secret"
HEADERS = {"Host": "localhost", "Authorization": f"Bearer {WORKER_TOKEN}"}
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]

PATHS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "frontend" / "openapi.json").read_text())["paths"]
# The stream never ends.
CALLS = [(path, method) for path, item in PATHS.items() for method in item if path != "/api/v1/events"]


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The description of a running application that has a run to speak of."""
    folder = tmp_path_factory.mktemp("contract")
    app = create_app(Settings.model_validate({"data_dir": folder, "worker_token": WORKER_TOKEN, "sweep_seconds": 60}))
    with TestClient(app, base_url="http://localhost") as user:
        api = Api(user, TestClient(app, base_url="http://localhost", headers=HEADERS))
        run_id, attempt = api.running()
        api.save(run_id, attempt, 2, 100)
        yield schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, headers=HEADERS)


@pytest.mark.parametrize(("path", "method"), CALLS, ids=lambda part: part.removeprefix("/api/v1"))
def test_a_call_answers_as_described(description: Any, path: str, method: str) -> None:
    @given(case=description[path][method].as_strategy())
    @settings(
        max_examples=10,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answers(case: schemathesis.Case[Any]) -> None:
        case.validate_response(case.call(headers=HEADERS), checks=CHECKS)

    answers()
