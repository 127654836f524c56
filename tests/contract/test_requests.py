"""Requests generated from the API's description: no call breaks the server, and every response is as described."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder

from tests.contract.conftest import CASES, Door, at_every_door
from tests.door import HANGS_SECONDS

# Calls that may reject a request with 422 although it matches their description. OpenAPI cannot express these rules:
REFUSED_THOUGH_VALID = (
    # A configuration is checked against its own schema, /config-schema, after preset and overrides are merged.
    # A cursor, a sort and a checkpoint must belong to this list and this run.
    "^/api/v1/(runs|runs/preview|runs/{run_id}/(clone|fork|changes))$",
    # A filter is an expression.
    "^/api/v1/run-(facets|failures|groups|settings)$",
    # Runs and metrics are lists separated by commas, and a cursor comes from an earlier response.
    "^/api/v1/(compare(/verdict|/thresholds)?|marks|figures/.*|runs/{run_id}/metrics)$",
    # A protocol must fit the run's environment, a way of acting its method, and start points its game.
    "^/api/v1/runs/{run_id}/(evaluations|recordings|calibrations)$",
    # Futures, games of people and start points continue from a decision of the replay. Futures have one kind of start.
    "^/api/v1/replays/{replay_id}/(futures|play|start-points)$",
    # The parts of a study must fit each other, and its points must be valid configurations.
    "^/api/v1/studies(/preview|/{study_id}/extend)?$",
    # The games of a suite are a known list or existing games, and its preset and protocol fit them.
    "^/api/v1/suites/specification$",
    # The parts must exist in this table or figure.
    "^/api/v1/papers/{paper}/{item}/(preview|studies|measurements)$",
    # A chart's address must be that of a figure. A board's filters are expressions, and its panels have distinct keys.
    "^/api/v1/(reports(/preview|/{report_id})?|projects/{project_id}/board)$",
    # A start set is for an existing Atari game, and its frames together fit into an episode.
    "^/api/v1/start-sets$",
    # A body must match the hash in the address. An event refers to uploaded files and valid metrics.
    "^/api/v1/worker/(runs/{run_id}|jobs/{job_id})/(files|events)$",
    # The same applies to the files of scripts, and a cursor comes from an earlier response.
    "^/api/v1/(reported/runs/{run_id}/files/{sha256}|runs/{run_id}/media)$",
    # An address must be that of a webhook or of Apprise, and only some kinds of alerts have a threshold.
    "^/api/v1/(alert-channels|alert-rules/{kind})$",
    # A run or a study moves to a project that exists. A project is merged into another one, and its report exists.
    "^/api/v1/(runs/{run_id}|studies/{study_id}|projects/{project_id}(/merge)?)$",
    # Tags and a project belong only to some of the actions on many runs, and ids do not go with filters.
    "^/api/v1/bulk-actions$",
    # Runs train only where a scheduler is set up.
    "^/api/v1/executors/default$",
    # A view, a score rule and a game that people play belong to a project that exists.
    "^/api/v1/(views|score-rules|games/{slug}/play)$",
    # An archive is not arbitrary bytes, and its runs are a list separated by commas.
    "^/api/v1/archives$",
    # An agent file is not arbitrary bytes, and its environment exists.
    "^/api/v1/agents$",
    # A sign-in is by a token or by a password. A member has an account, or is an existing group.
    "^/api/v1/(session|projects/{project_id}/members)$",
    # An alias names a checkpoint that exists. An alias given as a run's checkpoint may belong to another run.
    "^/api/v1/(aliases|runs/{run_id}/(agent|live))$",
)
# RFC 8628 answers 400 to a code that is unknown, has expired, or has not been confirmed yet.
DEVICE_CODES = "^/api/v1/session/device/token$"
VALID = ["2xx", "3xx", "401", "403", "404", "409", "410", "429"]


def configuration(door: Door, cases: int) -> SchemathesisConfig:
    """Return a configuration with all checks, each as strict as possible."""
    phases = {
        # The description has no examples.
        "examples": {"enabled": False},
        # Thousands of calls: every limit, every omitted field, every unsupported method of a path.
        "coverage": {"enabled": bool(CASES)},
        "fuzzing": {"enabled": True},
        # A link may take a null from a response, such as a run's parent, and treat it as a valid run number.
        "stateful": {"enabled": True, "checks": {"positive_data_acceptance": {"enabled": False}}},
    }
    accepting = {"positive_data_acceptance": {"expected-statuses": [*VALID, "422"]}}
    return SchemathesisConfig.from_dict(
        {
            "seed": 1,
            "continue-on-failure": True,
            "request-timeout": HANGS_SECONDS,
            "headers": door.user,
            "checks": {"positive_data_acceptance": {"expected-statuses": VALID}},
            "generation": {"max-examples": max(2, cases), "deterministic": True, "no-shrink": True, "database": "none"},
            "phases": phases,
            "operations": [
                {"include-path-regex": "^/api/v1/worker/", "headers": door.worker},
                *({"include-path-regex": paths, "checks": accepting} for paths in REFUSED_THOUGH_VALID),
                {
                    "include-path-regex": DEVICE_CODES,
                    "checks": {"positive_data_acceptance": {"expected-statuses": [*VALID, "400"]}},
                },
            ],
        }
    )


def described(door: Door) -> dict[str, Any]:
    """Return the server's description, without the endless stream, and with its token if it has one."""
    document = copy.deepcopy(door.document)
    document["paths"].pop("/api/v1/events", None)
    if door.user:
        for methods in document["paths"].values():
            for call in methods.values():
                call["security"] = [way for way in call["security"] if way]
    return document


@dataclass
class CallOutcomes:
    """Outcomes of the calls that the engine made."""

    count: int = 0
    server_errors: int = 0
    violations: dict[tuple[str, str], str] = field(default_factory=dict)

    def take(self, event: Any) -> None:
        """Count the calls of an event, and keep one violation of each kind."""
        if isinstance(event, events.NonFatalError | events.FatalError):
            self.violations["error", str(getattr(event, "label", ""))] = repr(event)
        elif isinstance(event, events.ScenarioFinished):
            self._count(event.recorder)

    def _count(self, recorder: ScenarioRecorder) -> None:
        for exchange in recorder.interactions.values():
            self.count += 1
            self.server_errors += exchange.response is not None and exchange.response.status_code >= 500
        for case_id, check, failure in _failures(recorder):
            case, answer = recorder.cases[case_id].value, recorder.interactions[case_id].response
            status, content = (answer.status_code, answer.content[:500]) if answer else (None, b"")
            reported = f"{check}: {failure.message[:300]}\n{case.as_curl_command()[:1000]}\n{status} {content!r}"
            self.violations.setdefault((check, str(failure.operation)), reported)

    def __str__(self) -> str:
        return f"{self.count} requests, {self.server_errors} of them 5xx, {len(self.violations)} violations"


def _failures(recorder: ScenarioRecorder) -> Iterator[tuple[str, str, Any]]:
    for case_id, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info is not None:
                yield case_id, check.name, check.failure_info.failure


@at_every_door
@pytest.mark.timeout(0 if CASES else 600)
def test_every_call_answers_as_described(door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    run_id, attempt = door.api.running()
    door.api.save(run_id, attempt, 2, 100)
    door.api.evaluate(run_id)
    calls = sum(len(methods) for methods in door.document["paths"].values())
    schema = schemathesis.openapi.from_dict(described(door), config=configuration(door, CASES // calls))
    schema.config.base_url = f"http://127.0.0.1:{door.port}"
    reported = CallOutcomes()
    for event in from_schema(schema).execute():
        reported.take(event)
    if CASES:
        with capsys.disabled():
            print(f"\nmade from the description: {reported}")
    assert reported.count >= CASES
    assert not reported.violations, "\n\n".join(reported.violations.values())
