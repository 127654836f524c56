"""Tests of papers, the studies started from them, and their figures."""

import math
from pathlib import Path
from typing import Any

import pytest

from arcadia_backend import papers
from arcadia_backend.papers.service import every_paper, find_item, find_paper
from arcadia_backend.studies.planning import initial_draws
from arcadia_backend.studies.points import validate, validate_draw
from tests.backend.calibrations.test_api import judge
from tests.backend.studies.conftest import Score, Studies
from tests.factories import event, metrics, started

BEGUN = 1_700_000_000.0
FIGURE_2 = "/api/v1/papers/a3c/figure-2"
FIFTH_PAPER = """
from arcadia_backend.papers.definition import Item, Paper
from arcadia_backend.papers.measured import figure


def draw(session, started):
    return figure([], "")


ITEM = Item("table-1", "Table 1", "Scores", "Trained it.", "Trains it.", "score", draw)
PAPER = Paper("fifth", "Fifth", "A fifth paper", "Somebody", 2018, "It is listed.", (ITEM,))
"""


def get(studies: Studies, path: str, **params: Any) -> Any:
    response = studies.api.user.get(path, params=params)
    assert response.status_code == 200, response.text
    return response.json()


def start(studies: Studies, share: float, *parts: str) -> list[dict[str, Any]]:
    response = studies.api.user.post(f"{FIGURE_2}/studies", json=confirmed(studies, FIGURE_2, share, *parts))
    assert response.status_code == 201, response.text
    found: list[dict[str, Any]] = response.json()
    return found


def confirmed(studies: Studies, path: str, share: float, *parts: str) -> dict[str, Any]:
    """Return a request that confirms the steps of its preview."""
    wanted = {"share": share, "parts": parts}
    return {**wanted, "confirm_steps": studies.api.user.post(f"{path}/preview", json=wanted).json()["steps"]}


def scoring(score: float) -> Score:
    """Return a scoring function that gives every run this score."""
    return lambda _: score


def refused(studies: Studies, path: str, status: int, **body: Any) -> str:
    response = studies.api.user.post(path, json=body)
    assert response.status_code == status, response.text
    return str(response.json()["detail"])


def test_a_new_folder_is_a_paper(studies: Studies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "fifth"
    folder.mkdir()
    (folder / "__init__.py").write_text(FIFTH_PAPER)
    assert "fifth" not in [paper["name"] for paper in get(studies, "/api/v1/papers")]
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    assert "fifth" in [paper["name"] for paper in get(studies, "/api/v1/papers")]
    assert get(studies, "/api/v1/papers/fifth/table-1")["theirs"] == "Trained it."


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    "stride",
    [pytest.param(10, id="every tenth part"), pytest.param(1, id="every part", marks=pytest.mark.nightly)],
)
@pytest.mark.parametrize("paper", every_paper(), ids=lambda paper: paper.name)
def test_every_part_is_a_valid_study(paper: Any, stride: int) -> None:
    assert len({item.name for item in paper.items}) == len(paper.items)
    for item in paper.items:
        assert len({part.name for part in item.parts}) == len(item.parts)
        for part in item.parts[::stride]:
            assert part.specification.total_steps is not None, (
                f"{item.name}, {part.name}: a budget is what a share is of"
            )
            for share in (0.01, 1.0):
                validate(part.at(share))
            if part.specification.sampler == "grid":
                for draw in initial_draws(part.specification, 5):
                    validate_draw(part.specification, draw)


@pytest.mark.parametrize("paper", every_paper(), ids=lambda paper: paper.name)
def test_every_item_has_texts_and_sources(paper: Any) -> None:
    for item in paper.items:
        assert item.theirs, item.name
        assert item.ours, item.name
        assert item.published or item.unpublished, f"{item.name}: numbers, or why there are none"
        assert not (item.parts and item.unavailable_reason), f"{item.name}: can be run, and says why it cannot"
        for number in item.published:
            assert math.isfinite(number.value)
            assert number.source, item.name
            assert number.table, item.name
            assert number.protocol, item.name


def test_an_item_has_differences_and_costs(studies: Studies) -> None:
    item = get(studies, FIGURE_2)
    assert (item["runs"], item["frames"]) == (250, 250 * 320_000_000)
    cost = next(part["cost"] for part in item["parts"] if part["name"] == "pong")
    assert (cost["runs"], cost["frames"], cost["unmeasured"]) == (50, 50 * 320_000_000, ["A3C on Pong"])
    assert [part["name"] for part in item["parts"] if part["stands_in"]] == ["cartpole", "catch"]
    value_weight = next(row for row in item["settings"] if row["field"] == "Value loss weight")
    assert value_weight["ours"] == "0.25"
    # The axis is what the figure shows.
    assert "Learning rate" not in [row["field"] for row in item["settings"]]
    assert (item["started"], item["panels"]) == ([], [])


def test_a_setting_of_one_preset_names_it(studies: Studies) -> None:
    rows = [row["field"] for row in get(studies, "/api/v1/papers/ga3c/table-2")["settings"]]
    assert "Life loss ends episode (a3c-paper-ff)" in rows
    assert "Life loss ends episode" not in rows


def test_a_share_of_a_figure_can_be_started_and_drawn(studies: Studies) -> None:
    (study,) = start(studies, 0.01, "cartpole")
    assert (study["name"], study["part"], study["share"]) == ("A3C, figure 2: CartPole, 1%", "CartPole", 0.01)
    trained = [run for _ in range(2) if (run := studies.train(lambda config: 100 * config["learning_rate"]))]
    assert [run["config"]["total_steps"] for run in trained] == [4_000, 4_000]
    assert all(1e-4 <= run["config"]["learning_rate"] <= 1e-2 for run in trained)
    item = get(studies, FIGURE_2)
    assert [each["id"] for each in item["started"]] == [study["id"]]
    (panel,) = item["panels"]
    assert (panel["part"], panel["share"]) == ("cartpole", 0.01)
    caption = "Ours at 1% of the budget: 4,000 of 400,000 steps per run. 2 of 50 runs have finished."
    assert panel["caption"] == caption
    (dots,) = get(studies, f"{FIGURE_2}/figure", share=0.01, part="cartpole")["data"]
    rates = {run["config"]["learning_rate"] for run in trained}
    assert dict(zip(dots["x"], dots["y"], strict=True)) == {rate: pytest.approx(100 * rate) for rate in rates}


def test_a_study_has_its_paper_as_origin(studies: Studies) -> None:
    (study,) = start(studies, 0.01, "catch")
    # Figure 4 draws the runs of figure 3, so either page starts the same study.
    figure_4 = "/api/v1/papers/paac/figure-4"
    response = studies.api.user.post(f"{figure_4}/studies", json=confirmed(studies, figure_4, 0.1, "cartpole"))
    (shared,) = response.json()
    own = studies.start()
    origin = {"paper": "a3c", "item": "figure-2", "part": "catch", "share": 0.01}
    assert studies.read(study["id"])["origin"] == origin
    assert (studies.read(shared["id"])["origin"] or {})["item"] == "figure-3"
    assert studies.read(own["id"])["origin"] is None


def test_budgets_are_not_mixed_and_the_newest_study_is_drawn(studies: Studies) -> None:
    for share, score in ((0.01, 1.0), (0.1, 2.0), (0.1, 3.0)):
        (study,) = start(studies, share, "cartpole")
        studies.train(scoring(score))
        studies.act(study["id"], "stop")
    assert [panel["share"] for panel in get(studies, FIGURE_2)["panels"]] == [0.1, 0.01]
    drawn = [get(studies, f"{FIGURE_2}/figure", share=share)["data"][0]["y"] for share in (0.01, 0.1)]
    assert drawn == [[1.0], [3.0]]
    assert get(studies, f"{FIGURE_2}/figure", share=1)["data"] == []


def test_a_preview_stores_nothing_and_invalid_requests_are_rejected(studies: Studies) -> None:
    preview = studies.api.user.post(f"{FIGURE_2}/preview", json={"share": 0.1}).json()
    assert (preview["studies"], preview["runs"], preview["steps"]) == (5, 250, 250 * 8_000_000)
    assert get(studies, "/api/v1/studies")["items"] == []
    start(studies, 0.01, "catch")
    studies.train()
    # Its two events are two seconds and 4,000 steps apart. At that rate, 50 full runs take hours, not years.
    assert studies.api.user.post(f"{FIGURE_2}/preview", json={"share": 1, "parts": ["catch"]}).json()["refused"] is None
    assert "choose 0.01, 0.1 or 1" in refused(studies, f"{FIGURE_2}/preview", 422, share=0.5)
    assert "has no part 'doom'" in refused(studies, f"{FIGURE_2}/studies", 422, share=1, parts=["doom"])
    assert "There is no paper" in refused(studies, "/api/v1/papers/a4c/figure-2/studies", 404, share=1)
    assert "It has table-1, table-2, figure-1" in refused(studies, "/api/v1/papers/a3c/figure-99/studies", 404, share=1)


def test_a_study_of_years_is_refused(studies: Studies) -> None:
    studies.api.launch(config=None, preset="a3c-paper-ff", overrides={"env": "ALE/Pong-v5", "total_steps": 100})
    studies.train()
    message = refused(studies, f"{FIGURE_2}/studies", 422, share=1, parts=["pong"])
    assert "years at the rate measured here: choose a smaller share or fewer parts" in message
    assert get(studies, "/api/v1/studies")["items"] == []


def test_a_deleted_study_leaves_its_figure(studies: Studies) -> None:
    (study,) = start(studies, 0.01, "catch")
    studies.act(study["id"], "stop")
    assert studies.api.user.delete(f"/api/v1/studies/{study['id']}").status_code == 204
    item = get(studies, FIGURE_2)
    assert (item["started"], item["panels"], item["studies"]) == ([], [], 0)


def test_parts_must_be_named(studies: Studies) -> None:
    message = refused(studies, f"{FIGURE_2}/studies", 422, share=0.01)
    assert (
        "name the parts to start: Figure 2 has beam-rider, breakout, pong, qbert, space-invaders, cartpole" in message
    )
    assert get(studies, "/api/v1/studies")["items"] == []


def test_an_unknown_cost_must_be_confirmed(studies: Studies) -> None:
    message = refused(studies, f"{FIGURE_2}/studies", 422, share=0.01, parts=["catch"])
    assert "50 runs train 200,000 steps, and the duration is unknown: A3C on Catch has not trained" in message
    assert 'send "confirm_steps": 200000 to start them' in message
    message = refused(studies, f"{FIGURE_2}/studies", 422, share=0.01, parts=["catch"], confirm_steps=1)
    assert "50 runs train 200,000 steps, not 1: send 200000" in message
    assert get(studies, "/api/v1/studies")["items"] == []
    start(studies, 0.01, "catch")
    studies.train()
    # The rate is known now, and 200,000 steps are few.
    started = studies.api.user.post(f"{FIGURE_2}/studies", json={"share": 0.01, "parts": ["catch"]})
    assert started.status_code == 201


def test_many_steps_of_unknown_cost_are_refused_even_if_confirmed(studies: Studies) -> None:
    path = "/api/v1/papers/gorila/table-1"
    preview = studies.api.user.post(f"{path}/preview", json={"share": 1}).json()
    assert preview["steps"] > 49e9
    assert "measure the duration of Gorila on Alien" in preview["refused"]
    message = refused(studies, f"{path}/studies", 422, share=1, parts=["gorila"], confirm_steps=49_000_000_000)
    assert "while the duration is unknown" in message


def test_a_share_that_is_too_short_gets_a_suggestion(studies: Studies) -> None:
    shares = {part["name"]: part["suggested_share"] for part in get(studies, FIGURE_2)["parts"]}
    assert (shares["catch"], shares["pong"]) == (1.0, 0.1)
    short = studies.api.user.post(f"{FIGURE_2}/preview", json={"share": 0.01, "parts": ["catch"]}).json()["too_short"]
    assert short == "Catch: 4,000 steps per run are too few to show anything. Use 100% of the budget"
    enough = studies.api.user.post(f"{FIGURE_2}/preview", json={"share": 1, "parts": ["catch"]}).json()
    assert enough["too_short"] is None


def test_a_measurement_run_stops_and_is_archived(studies: Studies) -> None:
    user = studies.api.user
    measured = user.post(f"{FIGURE_2}/measurements", json={"parts": ["pong"]}).json()
    assert [each["kind"] for each in measured] == ["A3C on Pong"]
    assert user.post(f"{FIGURE_2}/measurements", json={"parts": ["pong"]}).json() == []
    run = studies.api.claim()
    held = run["run_id"], run["attempt"]
    assert run["run_id"] == measured[0]["run_id"]
    assert run["config"]["evaluate_every_steps"] == 0
    trained = [{**metrics(2, 1_000), "time": BEGUN}, {**metrics(3, 31_000), "time": BEGUN + 30}]
    assert studies.api.send(*held, started(), trained[0]).is_success
    studies.schedule()
    assert studies.api.run(run["run_id"])["desired"] == "run"
    assert studies.api.send(*held, trained[1]).is_success
    studies.schedule()
    assert studies.api.run(run["run_id"])["state_reason"] == "Stopping: the trainer saves a checkpoint first."
    assert studies.api.release(*held, "stopped").is_success
    studies.schedule()
    assert studies.api.run(run["run_id"])["archived_at"] is not None
    # Pong uses its own rate, and Breakout the rate of another Atari game.
    for part, estimated in (("pong", []), ("breakout", ["A3C on Breakout"])):
        cost = user.post(f"{FIGURE_2}/preview", json={"share": 0.01, "parts": [part]}).json()
        assert (cost["unmeasured"], cost["estimated"]) == ([], estimated)
        assert cost["seconds"] > 50 * 800_000 / 1_033.4


MARKED = [
    ("a3c/figure-s5", "learning rates", "best three"),
    ("a3c/figure-s6", "learning rates", "best three"),
    ("a3c/figure-s7", "initialization", "random"),
    ("a3c/figure-3", "learning rates", "best three"),
    ("a3c/figure-4", "learning rates", "best three"),
    ("a3c/mujoco", "input", "pixels"),
    ("a3c/mujoco", "learning rate over time", "decays to 0"),
    ("a3c/labyrinth", "learning rate over time", "decays to 0"),
    ("ga3c/figure-3", "networks", "larger"),
    ("gorila/figure-4", "normalization", "DQN's"),
    ("paac/table-1", "learning rate over time", "not stated"),
    ("paac/table-1", "screens", "maximum over two frames"),
    ("paac/figure-3", "learning rate over time", "not stated"),
    ("paac/figure-4", "screens", "maximum over two frames"),
]


@pytest.mark.parametrize(("item", "what", "theirs"), MARKED)
def test_a_deviation_from_the_paper_is_marked(item: str, what: str, theirs: str) -> None:
    paper, name = item.split("/")
    rows = {each.what: each.theirs for each in find_item(find_paper(paper), name).differs}
    assert theirs in rows[what]


def test_car_racing_is_offered_instead_of_torcs(studies: Studies) -> None:
    item = get(studies, "/api/v1/papers/a3c/figure-s2")
    assert "TORCS is unavailable" in item["unavailable_reason"]
    assert (item["substitute"]["env"], item["substitute"]["title"]) == ("Arcadia/CarRacing-v0", "Car Racing")
    assert [number["value"] for number in item["published"]] == [75, 90, 12]
    assert item["parts"] == []


def test_paacs_table_is_evaluated_with_no_ops() -> None:
    for part in find_item(find_paper("paac"), "table-1").parts:
        assert part.specification.changes["evaluation_protocol"] == "no-op-30min"


def test_figure_s7_trains_three_value_based_methods(studies: Studies) -> None:
    item = get(studies, "/api/v1/papers/a3c/figure-s7")
    assert item["runs"] == 3 * 5 * 50
    path = "/api/v1/papers/a3c/figure-s7"
    body = confirmed(studies, path, 0.01, "one-step-sarsa-cartpole")
    (study,) = studies.api.user.post(f"{path}/studies", json=body).json()
    assert study["name"] == "A3C, figure S7: 1-step SARSA on CartPole, 1%"
    trained = studies.train(lambda config: 100 * config["learning_rate"])
    assert trained is not None
    assert trained["config"]["algorithm"] == "one_step_sarsa"
    rate = trained["config"]["learning_rate"]
    (dots,) = get(studies, f"{path}/figure", share=0.01, part="one-step-sarsa-cartpole")["data"]
    assert (dots["x"], dots["y"]) == ([rate], [pytest.approx(100 * rate)])


def test_table_1_of_ga3c_lists_systems_and_hosts(studies: Studies) -> None:
    path = "/api/v1/papers/ga3c/table-1"
    alone = get(studies, path)["table"]
    assert [row[0] for row in alone["rows"]] == [f"The paper: {system}" for system in ("I", "II", "III", "IV")]
    assert alone["rows"][0][1:5] == [
        "Intel Xeon E5-2640v3, dual socket, 2.60 GHz",
        "16",
        "not stated",
        "NVIDIA Geforce Titan X (Maxwell)",
    ]
    assert alone["note"].startswith("No worker has connected here")
    # A run of a host other than the connected worker's.
    run_id, _ = studies.api.running()
    for name, device in (("w1", "cpu"), ("w2", "NVIDIA H100")):
        assert studies.api.beat(name, host="sun", device=device, memory_bytes=8 * 2**30).is_success
    here = [row for row in get(studies, path)["table"]["rows"] if row[0].startswith("Here")]
    assert here == [
        ["Here: sun", "not reported", "2", "8 GiB", "NVIDIA H100", "not reported", "2 workers"],
        ["Here: testhost", "not reported", "not reported", "not reported", "none", "PyTorch 2.13.0", f"run {run_id}"],
    ]


def test_the_errors_of_critics_are_drawn_during_training(studies: Studies) -> None:
    path = "/api/v1/papers/critics/figure-1"
    api = studies.api
    answer = api.user.post(f"{path}/studies", json=confirmed(studies, path, 0.01, "cartpole"))
    (study,) = answer.json()
    methods = {}
    for seq in range(4):
        run = api.claim()
        methods[run["run_id"]] = run["config"]["algorithm"]
        assert run["config"]["calibrate_every_steps"] == 400
        api.send(run["run_id"], run["attempt"], started())
        api.save(run["run_id"], run["attempt"], 2, 500)
        judge(api, 500, bias=0.25 * seq)
        api.send(run["run_id"], run["attempt"], event(3, "finished", 4_000))
        api.release(run["run_id"], run["attempt"], "finished")
        studies.schedule()
    assert {*methods.values()} == {"a3c", "paac", "ga3c", "gorila"}
    drawn = get(studies, "/api/v1/papers/critics/figure-2/figure", share=0.01, part="cartpole")["data"]
    assert [(trace["meta"]["run_id"], trace["x"], trace["y"]) for trace in drawn] == [
        (run_id, [500], [0.25 * seq]) for seq, run_id in enumerate(methods)
    ]
    assert get(studies, path)["started"][0]["id"] == study["id"]
