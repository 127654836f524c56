"""The recipe "Add a kind of job" of docs/extending.md, applied to a copy of the repository."""

from pathlib import Path

import pytest

from tests.contract.recipes import Copy, newest_revision, recipe

MAX_FILES = 14
COPIED = ("alembic", "backend", "client", "examples", "tests", "workers", "alembic.ini", "pyproject.toml")
# Where a line of the recipe goes: the path, a line that is there, and the lines to add before it.
INSERTIONS = (
    ("workers/arcadia_workers/contract/worker_api.py", '    "evaluation",', '    "greeting",\n'),
    (
        "workers/arcadia_workers/contract/jobs.py",
        "class CalibrationParameters",
        'class GreetingParameters(BaseModel):\n    """What to say."""\n\n    words: Count\n\n\n',
    ),
    (
        "workers/arcadia_workers/contract/events.py",
        "class CalibrationEvent",
        """class GreetingDocument(BaseModel):
    words: str


class GreetingEvent(_Event):
    kind: Literal["greeting"] = "greeting"
    document: GreetingDocument


""",
    ),
    ("workers/arcadia_workers/contract/events.py", "    | CalibrationEvent", "    | GreetingEvent\n"),
    (
        "workers/arcadia_workers/trainer/job.py",
        "WORK: dict[JobKind, Work]",
        """def greet(job: JobRequest, _directory: Path, report: JobReport, stop: StopRequest) -> None:
    stop.interrupts = False
    report.started(None, 0)
    report.advanced(2, 2)
    report.result(events.GreetingEvent, document={"words": "hello " * job.parameters["words"]})


""",
    ),
    ("workers/arcadia_workers/trainer/job.py", '    "recording": record_episode', '    "greeting": greet,\n'),
    (
        "backend/arcadia_backend/database/tables/jobs.py",
        "class StartSet(InProject, Base)",
        'class Greeting(JobResult):\n    """A greeting."""\n\n    __tablename__ = "greetings"\n\n\n',
    ),
    (
        "backend/arcadia_backend/database/ownership.py",
        '    "calibrations": OF_RUN',
        '    "greetings": Through("job_id", "jobs"),\n',
    ),
    (
        "backend/arcadia_backend/web/doors.py",
        "read            GET                 /calibrations/**",
        "read            GET                 /greetings/**\n",
    ),
    ("backend/arcadia_backend/__init__.py", "    calibrations, changes", "    greetings\n"),
    (
        "backend/arcadia_backend/app.py",
        "from arcadia_backend.health import",
        "from arcadia_backend.greetings import router as greetings\n",
    ),
    ("backend/arcadia_backend/app.py", "    projects,\n    boards", "    greetings,\n"),
    (
        "backend/arcadia_backend/worker_api/jobs.py",
        "from arcadia_backend import calibrations",
        "from arcadia_backend import greetings\n",
    ),
    ("backend/arcadia_backend/worker_api/jobs.py", "        evaluations.JOB", "        greetings.JOB,\n"),
)
NEW_FILES = {
    "alembic/versions/9999_greetings.py": '''"""Greetings

Revision ID: 9999
Revises: {newest}
"""

import sqlalchemy as sa

from alembic import op

revision, down_revision, branch_labels, depends_on = "9999", "{newest}", None, None


def upgrade() -> None:
    op.create_table(
        "greetings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.BigInteger(), sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, unique=True),
        sa.Column("document", sa.JSON()),
        sa.PrimaryKeyConstraint("id"),
    )


def downgrade() -> None:
    op.drop_table("greetings")
''',
    "backend/arcadia_backend/greetings.py": '''"""Greetings."""

from fastapi import APIRouter

from arcadia_backend import jobs
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables.jobs import Greeting
from arcadia_backend.doorbell import Bell
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, find_run
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.jobs import GreetingParameters

JOB = jobs.JobType(
    "greeting",
    {ev.Advanced: jobs.advance, ev.GreetingEvent: jobs.store_document(Greeting)},
    jobs.has_document(Greeting),
    jobs.discard_document(Greeting),
)
router = APIRouter(tags=["runs"])
WAIT = jobs.wait_for("greeting_id", lambda session, number: jobs.find_with_job(session, Greeting, number)[1])


class GreetingState(jobs.JobFields):
    """A greeting."""

    id: int
    document: dict[str, str] | None


@router.post("/runs/{run_id}/greetings", status_code=201)
def create_greeting(db: Db, bell: Bell, once: Idempotent, run_id: PathId, request: GreetingParameters) -> GreetingState:
    """Queue a greeting."""
    with once.write(db) as session:
        run = find_run(session, run_id, lock=True)
        job = jobs.enqueue(session, run, None, "greeting", request.model_dump(), total=2)
        greeting = Greeting(job_id=job.id)
        session.add(greeting)
        session.flush()
        bell.ring_after_commit(session, job)
        return once.store(session, GreetingState(id=greeting.id, document=None, **jobs.job_fields(job, None)))


@router.get("/greetings/{greeting_id}", dependencies=[WAIT])
def read_greeting(db: Db, greeting_id: PathId) -> GreetingState:
    """Return a greeting, immediately or once it has ended."""
    with db.read() as session:
        greeting, job = jobs.find_with_job(session, Greeting, greeting_id)
        fields = jobs.job_fields(job, jobs.read_queue(session, [job]))
        return GreetingState(id=greeting.id, document=greeting.document, **fields)
''',
}
TEST = '''"""Greetings."""

import json
from pathlib import Path

from tests.factories import Api
from arcadia_workers.trainer import job


def test_a_greeting_is_made(api: Api, tmp_path: Path) -> None:
    run_id, _ = api.running()
    asked = api.user.post(f"/api/v1/runs/{run_id}/greetings", json={"words": 2}).json()
    claimed = api.claim_job()
    assert (claimed["kind"], claimed["parameters"]) == ("greeting", {"words": 2})
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"kind": "greeting", "step": None, "parameters": claimed["parameters"]}))
    assert job.main([str(request), "--dir", str(tmp_path)]) == 0
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [each["kind"] for each in events] == ["started", "advanced", "greeting", "finished"]
    api.send_of_job(claimed["job_id"], 1, *events).raise_for_status()
    running = api.user.get(f"/api/v1/greetings/{asked['id']}").json()
    assert (running["state"], running["done"], running["total"]) == ("running", 2, 2)
    api.release_job(claimed["job_id"], 1, "finished").raise_for_status()
    done = api.user.get(f"/api/v1/greetings/{asked['id']}", params={"wait": "finished"}).json()
    assert (done["state"], done["document"]) == ("done", {"words": "hello hello "})
'''


def apply_recipe(copy: Copy) -> set[str]:
    """Apply the recipe to a copy. Return the changed files."""
    for name, content in NEW_FILES.items():
        copy.write(name, content.replace("{newest}", newest_revision()))
    for name, place, lines in INSERTIONS:
        copy.insert(name, place, lines)
    return {*NEW_FILES, *(name for name, *_ in INSERTIONS)}


def test_a_kind_of_job_changes_few_files_which_the_recipe_names(tmp_path: Path) -> None:
    changed = apply_recipe(Copy(tmp_path, *{name for name, *_ in INSERTIONS}))
    # The queries and the page.
    assert len(changed) + 2 <= MAX_FILES
    for name in changed - NEW_FILES.keys():
        assert f"../{name})" in recipe("Add a kind of job"), f"the recipe does not name {name}"


@pytest.mark.nightly
def test_the_recipe_for_a_kind_of_job_works(tmp_path: Path) -> None:
    copy = Copy(tmp_path, *COPIED)
    apply_recipe(copy)
    copy.write("tests/backend/test_greetings.py", TEST)
    assert " passed" in copy.run_tests("tests/backend/test_greetings.py", "-k", "sqlite")
