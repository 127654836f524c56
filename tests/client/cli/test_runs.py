"""Commands for runs: list, show, watch, log, metrics, tag and control."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from arcadia.figures import Figure, to_image

from tests.client.cli.conftest import Arcadia, finish, train
from tests.factories import Api, event, metrics

InThread = Callable[[Callable[[], object]], None]


def test_runs_are_listed_filtered_and_named_in_every_way(arcadia: Arcadia, api: Api, trained: int) -> None:
    other = api.launch(name="listed other", tags=["odd"])["id"]
    listed = arcadia("runs")
    assert listed.status == 0
    assert f"{trained}  trained" in listed.out
    assert max(map(len, listed.out.splitlines())) <= 80
    assert [run["id"] for run in json.loads(arcadia("runs", "--json", "--tag", "odd").out)] == [other]
    found = arcadia("runs", "-q", "--state", "finished", "--search", "trained").out.split()
    assert str(trained) in found
    assert str(other) not in found
    named = arcadia("runs", "-q", f"{trained}-{other}", "--sort", "created_at").out.split()
    assert named[0] == str(trained)
    assert named[-1] == str(other)
    assert json.loads(arcadia("show", "@last", "--json").out)["id"] == other
    assert json.loads(arcadia("show", "listed other", "--json").out)["id"] == other
    assert "train/entropy" in arcadia("runs", trained, "--metric", "train/entropy").out
    assert arcadia("runs", "--search", "no such text").err == "There are no such runs.\n"


def test_runs_are_filtered_sorted_computed_and_grouped(arcadia: Arcadia, api: Api, trained: int) -> None:
    other = api.launch(name="listed other", tags=["odd"])["id"]
    expression = f"id in ({trained}, {other})"
    found = arcadia("runs", "-q", "--filter", expression, "--sort", "-steps,name").out.split()
    assert found == [str(trained), str(other)]
    computed = arcadia("runs", "--filter", expression, "--compute", "half = steps / 2").out
    assert "HALF" in computed.upper()
    assert "500" in computed
    grouped = arcadia("runs", "--filter", expression, "--group-by", "state", "--sort", "state").out
    assert [line.split()[:2] for line in grouped.splitlines()[1:]] == [["finished", "1"], ["queued", "1"]]
    groups = json.loads(arcadia("runs", "--filter", expression, "--group-by", "state", "--json").out)
    assert sum(group["runs"] for group in groups) == 2
    wrong = arcadia("runs", "--filter", "state = finishd")
    assert wrong.status != 0
    assert "did you mean finished" in wrong.err


def test_wrong_options_are_named_in_words(arcadia: Arcadia, api: Api, trained: int) -> None:
    assert "There is no project named 'nowhere'." in arcadia("runs", "--project", "nowhere").err
    assert "--state fnished: use one of queued, starting," in arcadia("runs", "--state", "fnished").err
    assert arcadia("stop", trained, "--yes").err.startswith(f"arcadia: Run {trained} has already finished")
    assert "a tag is empty" in arcadia("tag", trained, "--add", " ").err
    api.launch()
    assert "The list ends after 1 run. Show more" in arcadia("runs", "--limit", "1").err


def test_runs_of_a_saved_view(arcadia: Arcadia, api: Api, trained: int) -> None:
    other = api.launch(name="viewed", tags=["viewed"])["id"]
    query = f"filter=id+in+({trained},+{other})&sort=id&columns=name,config.seed~80!,metric.train/entropy.last"
    api.user.post("/api/v1/views", json={"name": "My view", "query": query}).raise_for_status()
    found = arcadia("runs", "--view", "my view", "-q")
    assert found.out.split() == [str(trained), str(other)], found.err
    assert arcadia("runs", "--view", "My view", "-q", "--sort=-id").out.split() == [str(other), str(trained)]
    assert arcadia("runs", "--view", "My view", "-q", "--tag", "viewed").out.split() == [str(other)]
    listed = json.loads(arcadia("runs", "--view", "My view", "--json").out)
    assert all("seed" in run["config"] for run in listed)
    assert "train/entropy" in arcadia("runs", "--view", "My view").out.splitlines()[0].lower()
    grouped = {"name": "Groups", "query": f"filter=id+in+({trained},+{other})&by=state"}
    api.user.post("/api/v1/views", json=grouped).raise_for_status()
    groups = json.loads(arcadia("runs", "--view", "Groups", "--json").out)
    assert {group["label"] for group in groups} == {"finished", "queued"}
    missing = arcadia("runs", "--view", "none")
    assert (missing.status, "There is no view named 'none'" in missing.err) == (1, True)


def test_a_run_is_shown_with_results_and_configuration(arcadia: Arcadia, trained: int, url: str) -> None:
    shown = arcadia("show", trained).out
    assert "finished" in shown
    assert "32.5 (best 32.5) after 4 episodes" in shown
    assert "100 %: step 1,000 of 1,000" in shown
    assert f"{url}/runs/{trained}" in shown
    assert json.loads(arcadia("show", trained, "--config").out)["num_envs"] == 4


def test_an_unknown_or_ambiguous_run_is_an_error(arcadia: Arcadia, api: Api) -> None:
    assert arcadia("show", 99_999).err == "arcadia: There is no run 99999.\n"
    assert arcadia("show", "no-such-name").status == 1
    api.launch(name="twin")
    api.launch(name="twin")
    assert "Several runs are named 'twin'" in arcadia("show", "twin").err
    assert arcadia("show").status == 2


def test_tags_are_added_and_removed(arcadia: Arcadia, api: Api) -> None:
    run = api.launch(tags=["old"])["id"]
    changed = json.loads(arcadia("tag", run, "--add", "new", "--add", "newer", "--remove", "old", "--json").out)
    assert changed[0]["tags"] == ["new", "newer"]
    assert arcadia("tag", run).out.endswith(": new, newer\n")


def test_runs_are_paused_resumed_stopped_archived_and_deleted(arcadia: Arcadia, api: Api) -> None:
    first, second = api.launch()["id"], api.launch()["id"]
    assert "paused" in arcadia("pause", first, second, "--wait").out
    resumed = json.loads(arcadia("resume", first, "--json").out)
    assert resumed[0]["state"] == "queued"
    asked = arcadia("stop", first)
    assert (asked.status, asked.err.endswith("Add --yes to confirm.\n")) == (2, True)
    assert api.run(first)["state"] == "queued"
    assert json.loads(arcadia("stop", first, second, "--yes", "--json").out)[1]["state"] == "stopped"
    again = arcadia("resume", first)
    assert (again.status, again.out) == (1, "")
    assert again.err.startswith(f"arcadia: Run {first} has already stopped")
    assert "is archived" in arcadia("archive", first).out
    assert arcadia("archive", first, "--undo").status == 0
    assert api.run(first)["archived_at"] is None
    assert arcadia("delete", first).status == 2
    assert arcadia("delete", first, "-y").out == f"Deleted run {first}.\n"
    assert arcadia("show", first).status == 1
    active = api.launch()["id"]
    partly = arcadia("delete", second, active, "--yes", "--json")
    assert (partly.status, [run["id"] for run in json.loads(partly.out)]) == (1, [second])
    assert f"arcadia: Run {active} is still queued." in partly.err


def test_stop_waits_for_the_checkpoint(arcadia: Arcadia, api: Api, meanwhile: InThread) -> None:
    run, attempt = api.running()

    def save_and_stop() -> None:
        while api.run(run)["desired"] != "stop":
            pass
        api.release(run, attempt, "stopped").raise_for_status()

    meanwhile(save_and_stop)
    stopped = arcadia("stop", run, "--wait", "--yes")
    assert stopped.status == 0
    assert "is stopped" in stopped.out


def test_the_log_is_printed_searched_and_followed_to_the_end(arcadia: Arcadia, api: Api, meanwhile: InThread) -> None:
    run, attempt = api.running()
    lines = [event(2 + i, "log", level=level, message=text) for i, (level, text) in enumerate(LINES)]
    api.send(run, attempt, *lines).raise_for_status()
    shown = arcadia("log", run).out
    assert "WARNING: careful" in shown
    assert "\x1b" not in shown
    last = arcadia("log", run, "--json", "-n", 1).out
    assert json.loads(last)["message"] == "red\x1b[31m"
    assert "first" not in arcadia("log", run, "--search", "careful").out
    meanwhile(lambda: finish(api, run, attempt, 5))
    followed = arcadia("log", run, "--follow")
    assert followed.status == 0
    assert "first" in followed.out


LINES = [("info", "first"), ("warning", "careful"), ("info", "red\x1b[31m")]


def test_metrics_are_listed_drawn_and_exported(arcadia: Arcadia, trained: int) -> None:
    assert "train/entropy" in arcadia("metrics", trained).out
    assert json.loads(arcadia("metrics", trained, "--json").out)["train/entropy"]["last"] == 0.25
    drawn = arcadia("metrics", trained, "episode/return").out.splitlines()
    assert drawn[0] == "episode/return by step, 4 points"
    assert drawn[1].startswith("60 ┤")
    series = json.loads(arcadia("metrics", trained, "train/entropy", "--json").out)["series"]
    assert series["train/entropy"]["mean"] == [0.5, 0.25]
    rows = arcadia("metrics", trained, "train/entropy", "--csv").out.splitlines()
    assert rows == ["metric,step,mean,min,max,count", *(f"train/entropy,{x},{y},{y},{y},1" for x, y in ENTROPY)]
    listed = arcadia("metrics", trained, "--csv").out.splitlines()
    assert listed[0] == "metric,last,min,max"
    assert "train/entropy,0.25,0.25,0.5" in listed
    assert "has not reported no/metric" in arcadia("metrics", trained, "no/metric").err


ENTROPY = [("400.0", 0.5), ("1000.0", 0.25)]


def test_watch_prints_lines_and_ends_with_the_run(arcadia: Arcadia, api: Api, meanwhile: InThread) -> None:
    run, attempt = api.running(name="watched")

    def go_on() -> None:
        api.send(run, attempt, metrics(2, 500, returns=[10.0]), event(3, "log", level="info", message="halfway"))
        finish(api, run, attempt, 4)

    meanwhile(go_on)
    watched = arcadia("watch", run, "--interval", "0.2")
    assert watched.status == 0
    assert f"Run {run} watched is finished" in watched.out
    assert "halfway" in watched.out


def test_watch_fails_if_one_of_the_runs_failed(arcadia: Arcadia, api: Api, trained: int) -> None:
    run, attempt = api.running()
    api.release(run, attempt, "failed", message="out of memory").raise_for_status()
    watched = arcadia("watch", trained, run, "--json")
    assert watched.status == 1
    assert [json.loads(line)["state"] for line in watched.out.splitlines()] == ["finished", "failed"]


@pytest.mark.parametrize("suffix", [".json", ".png"])
def test_figures_are_saved(arcadia: Arcadia, trained: int, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"curves{suffix}"
    assert arcadia("figure", trained, "--out", file).out == f"{file}\n"
    assert file.read_bytes()[:4] in (b'{"da', b"\x89PNG")


def test_figure_takes_any_parameter_of_the_api(arcadia: Arcadia, trained: int, tmp_path: Path) -> None:
    file = tmp_path / "scatter.csv"
    arcadia("figure", trained, "--name", "scatter", "--x", "id", "--option", "y=steps", "--out", file)
    assert file.read_text().splitlines()[0] == "trace,x,y"
    assert file.read_text().splitlines()[1].startswith(f"trace 0,{trained},")
    assert "NAME=VALUE" in arcadia("figure", trained, "--json", "--option", "y").err


def test_a_heat_map_is_saved_as_image_and_table() -> None:
    cells = {"type": "heatmap", "x": [100, 300], "y": ["NOOP", "UP"], "z": [[0.5, 0.25], [0.5, 0.75]], "zmin": 0}
    points = {"type": "scatter", "mode": "markers", "x": [1, 2], "y": [3, 4], "marker": {"color": ["red", "blue"]}}
    figure = Figure("action-shares", {"data": [cells], "layout": {}})
    assert figure.to_csv().splitlines() == ["trace,x,y", "NOOP,100,0.5", "NOOP,300,0.25", "UP,100,0.5", "UP,300,0.75"]
    for data in ([cells], [points]):
        assert to_image({"data": data, "layout": {}}).startswith(b"\x89PNG")


def test_figure_needs_a_known_format(arcadia: Arcadia, trained: int, tmp_path: Path) -> None:
    assert json.loads(arcadia("figure", trained, "--json", "--name", "evaluations").out)["data"]
    assert "has no known ending" in arcadia("figure", trained, "--out", tmp_path / "curves.txt").err
    assert arcadia("figure", trained).status == 2


def test_runs_are_compared(arcadia: Arcadia, api: Api, trained: int) -> None:
    other = train(api, overrides=None, config={**api.run(trained)["config"], "gamma": 0.9})
    compared = arcadia("compare", trained, other)
    assert compared.status == 0
    gamma = next(line for line in compared.out.splitlines() if line.startswith("gamma"))
    assert gamma.split() == ["gamma", "0.99", "0.9"]
    both = json.loads(arcadia("compare", trained, other, "--json").out)
    assert [run["id"] for run in both["comparison"]["runs"]] == [trained, other]
    assert both["verdict"]["standings"]


def test_settings_of_a_run_are_changed_and_listed(arcadia: Arcadia, api: Api) -> None:
    run = api.launch(name="to change")["id"]
    assert arcadia("change", run).err == f"Run {run} has no changes.\n"
    changed = arcadia("change", run, "--set", "learning_rate=1e-4", "--more-steps", "2k")
    assert changed.out == (
        f"Run {run} to change: learning_rate 0.0224 → 0.0001, total_steps 1,000 → 3,000. "
        "It is used when a worker takes the run.\n"
    )
    listed = arcadia("change", run).out
    assert "learning_rate 0.0224 → 0.0001" in listed
    assert "waiting" in listed
    assert json.loads(arcadia("change", run, "--json").out)[0]["fields"]["total_steps"] == 3_000
    assert "fork the run" in arcadia("change", run, "--set", "gamma=0.5").err
    assert arcadia("change", run, "--more-steps", "1.5").status == 2
