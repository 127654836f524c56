"""Runs in the browser: launch, watch, replay, compare and stop."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.installation import CARTPOLE, CATCH_BY_A3C, CATCH_BY_GORILA, Installation
from tests.workers.waiting import wait_until

# Settings in closed sections of the launch form, with their sections.
SECTIONS = {"t_max": "Rollout", "checkpoint_seconds": "More about the run", "hidden_units": "Network"}
SHORT_RUN = 12_000


def furthest_step(chart: Locator) -> float:
    """Return the last step of the chart's curves."""
    return float(chart.evaluate("plot => Math.max(0, ...(plot.data ?? []).flatMap(trace => trace.x ?? []))"))


def wait_for_curve_beyond(chart: Locator, step: float) -> float:
    """Wait until the curves pass a step, and return their last step."""
    wait_until(lambda: furthest_step(chart) > step)
    return furthest_step(chart)


def launch_from_the_form(page: Page, **settings: object) -> int:
    """Launch a changed CartPole preset through the form."""
    page.goto("/launch")
    page.get_by_role("radio", name=re.compile("CartPole")).first.check(force=True)
    return fill_in_and_launch(page, **settings)


def fill_in_and_launch(page: Page, **settings: object) -> int:
    """Fill in the open form, launch, and return the number of the new run."""
    for name, value in settings.items():
        if name in SECTIONS:
            section = page.get_by_role("button", name=re.compile(f"^{SECTIONS[name]}"))
            if section.get_attribute("aria-expanded") == "false":
                section.click()
        page.get_by_role("textbox", name=re.compile(rf"\b{name}$")).fill(str(value))
    page.get_by_role("button", name="Launch run", exact=True).last.click()
    page.wait_for_url(re.compile(r"/runs/\d+"))
    return int(page.url.split("/runs/")[1].split("/")[0].split("?")[0])


@pytest.fixture(scope="module")
def finished_run(installation: Installation) -> int:
    """Train a run to the end and return its number."""
    run = installation.launch(total_steps=SHORT_RUN)
    installation.wait_for_state(run, "finished")
    return run


def test_a_launched_run_draws_its_curve_without_a_reload(page: Page, installation: Installation) -> None:
    endless = {name: CARTPOLE[name] for name in ("total_steps", "num_envs", "t_max", "hidden_units")}
    run = launch_from_the_form(page, **endless)
    page.evaluate("window.sameDocument = true")
    chart = page.get_by_role("img", name=re.compile("Return per episode"))

    seen = wait_for_curve_beyond(chart, 0)
    for _ in range(3):
        further = wait_for_curve_beyond(chart, seen)
        assert further > seen
        seen = further

    assert page.evaluate("window.sameDocument")
    assert installation.run(run)["config"]["num_envs"] == CARTPOLE["num_envs"]
    page.get_by_role("button", name="Stop run").click()
    expect(page.get_by_text("Stopped", exact=True).first).to_be_visible()
    assert installation.wait_for_state(run, "stopped")["step"] > 0


@pytest.mark.nightly
def test_a_run_of_another_method_and_game_trains_until_it_is_stopped(page: Page, installation: Installation) -> None:
    page.goto("/launch")
    page.get_by_role("searchbox", name="Search environments").fill("Catch")
    page.get_by_role("searchbox", name="Search environments").press("Enter")
    page.get_by_role("radio", name=re.compile(r"^A3C\b")).check(force=True)
    expect(page.get_by_role("region", name="Summary")).to_contain_text("A3C on Catch")
    run = fill_in_and_launch(page, total_steps="1G", num_actors=2, learning_rate="1e-3")

    config = installation.run(run)["config"]
    assert (config["algorithm"], config["env"], config["num_actors"]) == ("a3c", "Arcadia/Catch-v0", 2)
    chart = page.get_by_role("img", name=re.compile("Return per episode"))
    wait_for_curve_beyond(chart, wait_for_curve_beyond(chart, 0))
    page.get_by_role("button", name="Stop run").click()
    expect(page.get_by_text("Stopped", exact=True).first).to_be_visible()
    assert installation.wait_for_state(run, "stopped")["step"] > 0


@pytest.mark.nightly
def test_a_run_with_a_killed_actor_shows_why_it_failed(page: Page, installation: Installation) -> None:
    run = installation.launch(CATCH_BY_A3C)
    page.goto(f"/runs/{run}")
    wait_for_curve_beyond(page.get_by_role("img", name=re.compile("Return per episode")), 0)
    worker = installation.run(run)["worker"]
    installation.actor_learners(worker)[0].kill()

    expect(page.get_by_text("Failed", exact=True).first).to_be_visible()
    why = page.get_by_role("alert")
    expect(why.get_by_role("heading")).to_contain_text("was killed by signal 9")


@pytest.mark.nightly
def test_a_distributed_run_shows_its_roles_and_replacements(page: Page, installation: Installation) -> None:
    run = installation.launch(CATCH_BY_GORILA)
    page.goto(f"/runs/{run}")
    roles = page.get_by_role("region", name="Roles")
    expect(roles).to_contain_text("2 roles on 1 host")
    expect(roles.get_by_role("listitem")).to_contain_text("(127.0.0.1)")
    wait_for_curve_beyond(page.get_by_role("img", name=re.compile("Return per episode")), 0)
    installation.roles(installation.run(run)["worker"], "Bundle")[0].kill()

    expect(roles).to_contain_text("Replaced: bundle 0 once")
    page.get_by_role("button", name="Stop run").click()
    expect(roles).to_contain_text("2 roles were last on 1 host")


@pytest.mark.nightly
def test_a_fork_starts_with_its_runs_settings_and_trains_with_changes(
    page: Page, installation: Installation, finished_run: int
) -> None:
    page.goto(f"/runs/{finished_run}/checkpoints")
    page.get_by_role("button", name=re.compile("^Fork from")).first.click()
    dialog = page.get_by_role("dialog")
    total = dialog.get_by_role("textbox", name=re.compile("total_steps$"))
    expect(total).to_have_value(f"{SHORT_RUN:_}")
    total.fill(str(2 * SHORT_RUN))
    dialog.get_by_role("textbox", name=re.compile("learning_rate$")).fill("0.001")
    dialog.get_by_role("button", name="Launch fork").click()
    page.wait_for_url(re.compile(rf"/runs/(?!{finished_run}\b)\d+$"))

    fork = int(page.url.rsplit("/", 1)[1])
    expected = installation.run(finished_run)["config"] | {"total_steps": 2 * SHORT_RUN, "learning_rate": 0.001}
    assert installation.wait_for_state(fork, "finished")["config"] == expected


@pytest.mark.nightly
def test_an_invalid_value_is_shown_next_to_its_field_and_not_launched(page: Page, installation: Installation) -> None:
    before = installation.read("runs")["total"]
    page.goto("/launch")
    field = page.get_by_role("textbox", name=re.compile("num_envs$"))
    field.fill("0")
    page.get_by_role("button", name="Launch run", exact=True).last.click()

    expect(field).to_have_attribute("aria-invalid", "true")
    assert "/launch" in page.url
    assert installation.read("runs")["total"] == before


@pytest.mark.nightly
def test_the_replay_of_a_run_plays_in_the_page(page: Page, installation: Installation, finished_run: int) -> None:
    installation.wait_for_replay(finished_run)
    page.goto(f"/runs/{finished_run}/replays")
    video = page.locator("video").first
    video.wait_for()

    page.wait_for_function("video => video.currentTime > 0.3", arg=video.element_handle())

    assert video.evaluate("video => video.error") is None
    assert video.evaluate("video => video.videoWidth") > 0
    expect(page.get_by_role("radiogroup", name="Speed")).to_be_in_viewport(ratio=1)


def open_what_if(page: Page, installation: Installation, run: int) -> Locator:
    """Open the panel for futures of a run's replay. Return it with 8 futures entered."""
    installation.wait_for_replay(run)
    page.goto(f"/runs/{run}/replays")
    page.get_by_role("button", name="What if…").click()
    panel = page.get_by_role("region", name="What if")
    panel.get_by_role("textbox", name="Futures").fill("8")
    return panel


@pytest.mark.nightly
def test_futures_compare_the_actions_of_a_replay(page: Page, installation: Installation, finished_run: int) -> None:
    panel = open_what_if(page, installation, finished_run)
    panel.get_by_text("Each in turn", exact=True).click()
    panel.get_by_role("button", name="Simulate").click()

    rows = panel.get_by_role("region", name="Each action first").get_by_role("row")
    expect(rows).to_have_text([re.compile("Policy"), re.compile("left"), re.compile("right")])
    expect(rows.filter(has_text="taken")).to_have_count(1)
    expect(panel.get_by_text(re.compile(r"V = .* 8 futures average"))).to_be_visible()
    expect(panel.get_by_role("img", name=re.compile("^Histogram"))).to_be_visible()


@pytest.mark.nightly
def test_futures_with_forced_actions_have_videos_that_follow_the_replay(
    page: Page, installation: Installation, finished_run: int
) -> None:
    panel = open_what_if(page, installation, finished_run)
    panel.get_by_text("Sequence", exact=True).click()
    panel.get_by_role("textbox", name="Times").fill("2")
    panel.get_by_role("button", name="Add").click()
    panel.get_by_role("button", name="Simulate").click()

    expect(panel.get_by_text(re.compile(r"8 futures that begin with left × 2 average"))).to_be_visible()
    videos = panel.get_by_role("region", name="Videos of futures")
    best = videos.get_by_label("Best future")
    page.wait_for_function("video => video.readyState >= 2", arg=best.element_handle())
    videos.get_by_role("button", name="Watch in sync").click()
    page.wait_for_function("video => video.currentTime > 0", arg=best.element_handle())


@pytest.mark.nightly
def test_another_agent_acts_in_futures(page: Page, installation: Installation, finished_run: int) -> None:
    other = installation.launch(total_steps=SHORT_RUN, seed=2)
    installation.wait_for_state(other, "finished")
    panel = open_what_if(page, installation, finished_run)
    panel.get_by_text("Another", exact=True).click()
    panel.get_by_role("button", name=f"Remove run {finished_run}").click()
    panel.get_by_role("combobox", name="Pick a run").fill(str(other))
    page.get_by_role("option", name=re.compile(f" {other}$")).click()
    panel.get_by_role("combobox", name="Checkpoint").select_option("newest")
    panel.get_by_role("button", name="Simulate").click()

    expect(panel.get_by_text(re.compile(rf"8 futures by run {other} at .* average"))).to_be_visible()


@pytest.mark.nightly
def test_two_runs_are_compared_by_curves_settings_and_scores(
    page: Page, installation: Installation, finished_run: int
) -> None:
    other = installation.launch(total_steps=SHORT_RUN, learning_rate=0.001)
    installation.wait_for_state(other, "finished")

    page.goto(f"/compare?runs={finished_run},{other}")

    differences = page.get_by_role("region", name="Configuration differences")
    expect(differences).to_contain_text("Learning rate")
    expect(differences).to_contain_text("0.001")
    expect(differences).to_contain_text("0.0224")
    rows = page.get_by_role("region", name="Summary").get_by_role("row")
    expect(rows).to_have_count(3)  # the header and one row per run
    chart = page.get_by_role("img", name=re.compile("Return per episode"))
    wait_for_curve_beyond(chart, SHORT_RUN * 0.8)
    drawn = chart.evaluate("plot => [...new Set(plot.data.map(trace => trace.meta?.run_id))]")
    assert set(drawn) >= {finished_run, other}


@pytest.mark.nightly
def test_the_run_list_updates_and_can_stop_a_run(page: Page, installation: Installation) -> None:
    page.goto("/")
    run = installation.launch()
    row = page.get_by_role("row").filter(has_text=f"#{run}")
    expect(row.get_by_text("Running")).to_be_visible()

    row.get_by_role("checkbox").check()
    page.get_by_role("region", name="Selected runs").get_by_role("button", name=re.compile("Stop")).click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("Stop")).click()

    expect(row.get_by_text("Stopped")).to_be_visible()
    assert installation.run(run)["state"] == "stopped"
