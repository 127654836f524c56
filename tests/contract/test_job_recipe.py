"""The recipe "Add a kind of job" of docs/extending.md, applied to a copy of the repository."""

from pathlib import Path

import pytest

from tests.contract.recipes import Copy, newest_revision, recipe

# Besides the trainer's function, and the queries and the panel of the frontend.
MAX_FILES = 5
TRAINER = "workers/arcadia_workers/trainer/job.py"
COPIED = ("alembic", "backend", "client", "examples", "tests", "workers", "alembic.ini", "pyproject.toml")
# Where a line of the recipe goes: the path, a line that is there, and the lines to add before it.
INSERTIONS = (
    ("workers/arcadia_workers/contract/jobs.py", '    "evaluation",', '    "greeting",\n'),
    (
        "workers/arcadia_workers/contract/jobs.py",
        "class CalibrationParameters",
        'class GreetingParameters(BaseModel):\n    """What to say."""\n\n    words: Count\n\n\n',
    ),
    (
        "workers/arcadia_workers/contract/jobs.py",
        '        JobDeclaration(\n            kind="calibration",',
        """        JobDeclaration(
            kind="greeting",
            noun="greeting",
            plural="greetings",
            parameters=GreetingParameters,
            result=events.GreetingEvent,
            path="greetings",
            table="greetings",
            max_unfinished=1,
        ),
""",
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
        TRAINER,
        "WORK: dict[JobKind, Work]",
        """def greet(which: GreetingParameters, _place: Place, report: JobReport, stop: StopRequest) -> None:
    stop.interrupts = False
    report.started(None, 0)
    report.advanced(2, 2)
    report.result(events.GreetingEvent, document={"words": "hello " * which.words})


""",
    ),
    (TRAINER, "    JobKind,\n", "    GreetingParameters,\n"),
    (TRAINER, '    "recording": record_episode', '    "greeting": greet,\n'),
    (
        "backend/arcadia_backend/database/tables/jobs.py",
        "class StartSet(InProject, Base)",
        'class Greeting(JobResult):\n    """A greeting."""\n\n    __tablename__ = "greetings"\n\n\n',
    ),
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
    "backend/arcadia_backend/job_kinds/greetings.py": '''"""Greetings."""

from fastapi import APIRouter
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Job
from arcadia_backend.database.tables.jobs import Greeting
from arcadia_backend.doorbell import Bell
from arcadia_backend.job_kinds.result_routes import add_job_routes
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, find_run
from arcadia_workers.contract.events import GreetingDocument
from arcadia_workers.contract.jobs import GreetingParameters


class RunGreeting(jobs.JobFields):
    """A greeting."""

    id: int
    document: GreetingDocument | None


def to_schema(session: Session, greeting: Greeting, job: Job) -> RunGreeting:
    """Convert a greeting to its API schema."""
    fields = jobs.job_fields(job, jobs.read_queue(session, [job]))
    return RunGreeting(id=greeting.id, document=greeting.document, **fields)


router = APIRouter(tags=["runs"])
JOB = jobs.document_job("greeting", Greeting, router)
add_job_routes(JOB, RunGreeting, to_schema)


@router.post("/runs/{run_id}/greetings", status_code=201)
def create_greeting(db: Db, bell: Bell, once: Idempotent, run_id: PathId, request: GreetingParameters) -> RunGreeting:
    """Queue a greeting."""
    with once.write(db) as session:
        run = find_run(session, run_id, lock=True)
        jobs.check_room(session, run, "greeting")
        job = jobs.enqueue(session, run, None, "greeting", request, total=2)
        greeting = Greeting(job_id=job.id)
        session.add(greeting)
        session.flush()
        bell.ring_after_commit(session, job)
        return once.store(session, to_schema(session, greeting, job))
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
    again = api.user.post(f"/api/v1/runs/{run_id}/greetings", json={"words": 1}).json()
    refused = api.user.post(f"/api/v1/runs/{run_id}/greetings", json={"words": 1}).json()
    assert refused["detail"].startswith(f"1 unfinished greetings of run {run_id} already wait.")
    assert api.user.post(f"/api/v1/greetings/{again['id']}/cancel").json()["state"] == "cancelled"
    assert api.user.delete(f"/api/v1/greetings/{again['id']}").status_code == 204
    assert api.user.get(f"/api/v1/greetings/{again['id']}").json()["detail"] == f"There is no greeting {again['id']}."
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
    assert len(changed - {TRAINER}) <= MAX_FILES
    for name in changed - NEW_FILES.keys():
        assert f"../{name})" in recipe("Add a kind of job"), f"the recipe does not name {name}"


@pytest.mark.nightly
def test_the_recipe_for_a_kind_of_job_works(tmp_path: Path) -> None:
    copy = Copy(tmp_path, *COPIED)
    apply_recipe(copy)
    copy.write("tests/backend/test_greetings.py", TEST)
    assert " passed" in copy.run_tests("tests/backend/test_greetings.py", "-k", "sqlite")
