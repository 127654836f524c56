"""Kinds of jobs: a declaration is enough for what all kinds share, and the client has the declared parameters."""

import argparse
import inspect
from collections.abc import Callable
from typing import Any, get_args

import pytest
from arcadia._async.client import AsyncClient
from arcadia._async.jobs import AsyncReview
from arcadia._async.runs import AsyncRun
from arcadia.mcp_tools import CreatingTools
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from arcadia_backend.app import create_app, describe_api
from arcadia_backend.archives.format import ARCHIVED_JOBS
from arcadia_backend.config import API, Settings
from arcadia_backend.database.ownership import LIMITED
from arcadia_backend.database.tables import Base
from arcadia_backend.job_kinds.calibrations import CalibrationRequest
from arcadia_backend.job_kinds.evaluations.schemas import EvaluationRequest
from arcadia_backend.job_kinds.futures import SimulateFutures
from arcadia_backend.job_kinds.recordings import RecordingRequest
from arcadia_backend.web.doors import Right, find_right, object_in
from arcadia_backend.worker_api.jobs import JOB_TYPES
from arcadia_workers.contract.events import event_adapter
from arcadia_workers.contract.futures import FuturesOptions
from arcadia_workers.contract.jobs import (
    INTERACTIVE_JOBS,
    JOB_KINDS,
    LIVE_GAMES,
    PRIORITIES,
    CalibrationParameters,
    JobDeclaration,
    JobKind,
    RecordingParameters,
)
from arcadia_workers.contract.practice import PracticeOptions
from arcadia_workers.contract.review import ReviewOptions
from arcadia_workers.trainer.commands import parser
from arcadia_workers.trainer.job import WORK

KINDS = [pytest.param(each, id=each.kind) for each in JOB_KINDS.values()]
WITH_PATH = [pytest.param(each, id=each.kind) for each in JOB_KINDS.values() if each.path]


@pytest.fixture(scope="module")
def paths() -> dict[str, Any]:
    """Return the paths of the API."""
    document = describe_api(create_app(Settings(host="127.0.0.1")))
    found: dict[str, Any] = document["paths"]
    return found


def test_each_kind_is_declared_once() -> None:
    assert [*JOB_KINDS] == [each.kind for each in JOB_KINDS.values()]
    assert {*JOB_KINDS} == {*get_args(JobKind)}


@pytest.mark.parametrize("declared", KINDS)
def test_a_kind_has_its_function_its_backend_part_and_its_sentences(declared: JobDeclaration) -> None:
    assert WORK[declared.kind].__doc__
    handled = JOB_TYPES[declared.kind].handlers
    assert declared.result is None or declared.result in handled
    assert all(event in get_args(get_args(event_adapter._type)[0]) for event in handled)
    assert declared.name.endswith(declared.noun)
    assert declared.missing(7) in (f"There is no {declared.noun} 7.", f"There are no {declared.noun} 7.")
    assert declared.priority in PRIORITIES
    assert (declared.kind in INTERACTIVE_JOBS) == (declared.priority == "interactive")
    assert (declared.kind in LIVE_GAMES, declared.kind in ARCHIVED_JOBS) == (declared.is_live, declared.is_archived)
    assert issubclass(declared.parameters, BaseModel)
    # A typo in a request to a process is an error.
    assert declared.parameters.model_config["extra"] == "forbid"


@pytest.mark.parametrize("declared", WITH_PATH)
def test_results_with_a_path_have_their_routes_rights_and_table(
    declared: JobDeclaration, paths: dict[str, Any]
) -> None:
    one = paths[f"{API}/{declared.path}/{{{declared.kind}_id}}"]
    assert (one["get"]["operationId"], one["delete"]["operationId"]) == (
        f"read_{declared.kind}",
        f"delete_{declared.kind}",
    )
    assert {each["name"] for each in one["get"]["parameters"]} == {f"{declared.kind}_id", "wait", "timeout"}
    assert find_right("GET", f"{API}/{declared.path}/7") == Right.READ
    assert find_right("DELETE", f"{API}/{declared.path}/7") == Right.WRITE
    table = declared.table or "jobs"
    assert object_in(f"{API}/{declared.path}/7/cancel") == (table, 7)
    assert table in Base.metadata.tables
    assert table in LIMITED


def options_of(command: str) -> dict[str, argparse.Action]:
    """Return the options of a command without a server, by the name of their value."""
    (subparsers,) = (each for each in parser()._actions if isinstance(each, argparse._SubParsersAction))
    return {action.dest: action for action in subparsers.choices[command]._actions}


def default_of(field: FieldInfo) -> Any:
    """Return the default of a field. A required field has None."""
    return None if field.is_required() else field.default


def default_in(function: Callable[..., Any], name: str) -> Any:
    """Return the default of a parameter. A required parameter has None, and a sequence is a list."""
    default = inspect.signature(function).parameters[name].default
    if default is inspect.Parameter.empty:
        return None
    return [*default] if isinstance(default, tuple) else default


@pytest.mark.parametrize(
    ("command", "model", "others"),
    [
        ("calibrate", CalibrationParameters, set()),
        ("record", RecordingParameters, set()),
        # Videos are requested with --videos.
        ("futures", FuturesOptions, {"record_videos", "videos_of"}),
        ("review", ReviewOptions, set()),
        ("practice", PracticeOptions, set()),
    ],
)
def test_commands_have_the_parameters_with_their_defaults(
    command: str, model: type[BaseModel], others: set[str]
) -> None:
    options = options_of(command)
    for name, field in model.model_fields.items():
        if name not in others:
            assert options[name].default == default_of(field), name
            assert options[name].help, name


METHODS: list[tuple[Callable[..., Any], type[BaseModel], set[str]]] = [
    (AsyncRun.evaluate, EvaluationRequest, set()),
    (AsyncRun.calibrate, CalibrationRequest, set()),
    (AsyncRun.record, RecordingRequest, set()),
    # Its videos are chosen on the page.
    (AsyncClient.futures, SimulateFutures, {"videos_of"}),
    (AsyncClient.review, ReviewOptions, set()),
    (AsyncReview.practice, PracticeOptions, set()),
    (AsyncReview.preview_practice, PracticeOptions, set()),
]


@pytest.mark.parametrize(("method", "model", "others"), METHODS)
def test_the_python_client_has_the_parameters_with_their_defaults(
    method: Callable[..., Any], model: type[BaseModel], others: set[str]
) -> None:
    for name, field in model.model_fields.items():
        if name not in others:
            assert default_in(method, name) == default_of(field), name


@pytest.mark.parametrize(
    ("tool", "model"),
    [
        (CreatingTools.review_replay, ReviewOptions),
        (CreatingTools.practice_mistakes, PracticeOptions),
        (CreatingTools.simulate_futures, FuturesOptions),
    ],
)
def test_tools_of_assistants_have_the_defaults_of_their_parameters(
    tool: Callable[..., Any], model: type[BaseModel]
) -> None:
    shared = inspect.signature(tool).parameters.keys() & model.model_fields.keys()
    assert shared
    for name in shared:
        assert default_in(tool, name) == default_of(model.model_fields[name]), name
