"""Claims between people, and the sentence of a waiting run, with a database."""

import re
from datetime import timedelta

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, open_database
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import MAIN_ID, Attempt, Project, Run
from arcadia_backend.runs.waiting import read_use
from arcadia_backend.worker_api.runs import claim
from tests.backend.runs.test_forecast import train
from tests.factories import CARTPOLE, Api

ANA, BEN = 1, 2
PEOPLE = {ANA: "Ana", BEN: "Ben"}


def give(database: Database, owners: dict[int, int], **columns: int) -> None:
    """Make people the owners of runs."""
    with database.write() as session:
        for run_id, person in owners.items():
            run = session.get_one(Run, run_id)
            run.person_id, run.launched_by = person, PEOPLE[person]
            for name, value in columns.items():
                setattr(run, name, value)


def claimed(database: Database, settings: Settings, count: int) -> list[int]:
    """Claim runs for several workers, and return them in order."""
    found = []
    for number in range(count):
        with acting_as(BACKEND), database.write() as session:
            taken = claim(session, settings, f"w{number}", "cpu")
            assert taken is not None
            found.append(taken.run_id)
    return found


def test_people_take_turns_whoever_queued_first(api: Api, database: Database, settings: Settings) -> None:
    ana = [api.launch()["id"] for _ in range(3)]
    ben = [api.launch()["id"] for _ in range(2)]
    give(database, dict.fromkeys(ana, ANA) | dict.fromkeys(ben, BEN))
    # A run that has just started counts, so that two free workers do not both go to Ana.
    assert claimed(database, settings, 5)[:2] == [ana[0], ben[0]]


def test_without_shares_the_oldest_run_is_first(api: Api, database: Database, settings: Settings) -> None:
    ana = [api.launch()["id"] for _ in range(2)]
    ben = api.launch()["id"]
    give(database, dict.fromkeys(ana, ANA) | {ben: BEN})
    off = open_database(settings.model_copy(update={"fair_share": "off"}))
    try:
        assert claimed(off, settings, 3) == [*ana, ben]
    finally:
        off.close()


def test_projects_can_take_turns_instead_of_people(api: Api, database: Database, settings: Settings) -> None:
    mine, other = [api.launch()["id"] for _ in range(2)], api.launch()["id"]
    with acting_as(BACKEND), database.write() as session:
        project = Project(name="Other", name_key="other")
        session.add(project)
        session.flush()
        number = project.id
    give(database, dict.fromkeys(mine, ANA), project_id=MAIN_ID)
    give(database, {other: ANA}, project_id=number)
    by_project = open_database(settings.model_copy(update={"fair_share": "projects"}))
    try:
        assert claimed(by_project, settings, 3) == [mine[0], other, mine[1]]
    finally:
        by_project.close()


def test_priority_goes_before_use(api: Api, database: Database, settings: Settings) -> None:
    give(database, {api.launch()["id"]: BEN})
    urgent = [api.launch(priority=1)["id"] for _ in range(2)]
    give(database, dict.fromkeys(urgent, ANA))
    assert claimed(database, settings, 2) == urgent


def test_use_is_the_decayed_time_on_workers(api: Api, database: Database) -> None:
    run_id = train(api, 100, 10)
    give(database, {run_id: ANA})
    ended = utc_now() - timedelta(weeks=1)
    with acting_as(BACKEND), database.write() as session:
        attempt = session.get_one(Attempt, (run_id, 1))
        attempt.claimed_at, attempt.ended_at = ended - timedelta(hours=4), ended
        session.flush()
        use, typical = read_use(session, "cpu")
        assert read_use(session, "gpu")[0] == {}
    assert use == {ANA: pytest.approx(2.0, rel=1e-3)}
    assert typical == pytest.approx(4.0)


def test_a_waiting_run_says_who_is_ahead_and_when_it_starts(api: Api, database: Database) -> None:
    for _ in range(5):
        train(api, 100, 10)
    running = api.launch(config={**CARTPOLE, "total_steps": 60_000})["id"]
    attempt = api.claim()["attempt"]
    api.beat("w1", run={"id": running, "attempt": attempt})
    first, second, last = (api.launch(config={**CARTPOLE, "total_steps": 60_000})["id"] for _ in range(3))
    give(database, {running: ANA, first: BEN, second: ANA, last: ANA})
    reason = api.run(last)["state_reason"]
    assert reason.startswith("Waiting for a free CPU worker. 2 runs are ahead: 1 of Ben, 1 of Ana."), reason
    when = r"(\d{4}-\d\d-\d\d \d\d:\d\d UTC)"
    found = re.search(rf"If nobody adds work ahead, it starts about {when}, in 9 of 10 cases by {when}\.$", reason)
    assert found is not None, reason
    assert found[1] <= found[2]
    assert api.run(first)["state_reason"].startswith("Waiting for a free CPU worker. It is next. If nobody adds")
