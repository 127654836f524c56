"""Live games in a browser, played by an agent or by a person who keeps the game.

The picture moves, a killed process is replaced, and leaving the page ends the game.
"""

import re
import signal

import psutil
import pytest
from playwright.sync_api import Page, expect

from arcadia_workers.contract.protocols.starts import StartSetFile
from arcadia_workers.trainer.games import playing
from arcadia_workers.trainer.games.emulator import AtariGame
from tests.installation import SAVING, Installation
from tests.processes import does_a_job

pytestmark = pytest.mark.nightly


def busy_processes(installation: Installation) -> list[psutil.Process]:
    """Return the processes that do jobs."""
    below = [each.process.children(recursive=True) for each in installation.workers.values()]
    return [process for processes in below for process in processes if does_a_job(process)]


def playing_process(installation: Installation) -> psutil.Process:
    """Return the process that plays the game."""
    found: list[psutil.Process] = []

    def look() -> bool:
        found[:] = busy_processes(installation)
        return bool(found)

    installation.wait_until(look)
    return found[0]


def shown(page: Page) -> str:
    """Return the shown picture as text."""
    picture: str = page.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    return picture


def wait_for_another_picture(page: Page, installation: Installation) -> None:
    """Wait until the picture has changed twice."""
    for _ in range(2):
        before = shown(page)
        installation.wait_until(lambda before=before: shown(page) != before)  # type: ignore[misc]


def test_a_live_game_starts_while_other_jobs_use_all_job_slots(page: Page, installation: Installation) -> None:
    run = installation.launch(**SAVING)
    installation.wait_for_checkpoint(run)
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")
    asked = [installation.post(f"runs/{run}/evaluations", {"episodes": 500, "seed": seed}) for seed in (1, 2, 3)]

    def states() -> list[str]:
        return [installation.read(f"evaluations/{each['id']}")["state"] for each in asked]

    installation.wait_until(lambda: states() == ["running", "running", "queued"])
    evaluating = busy_processes(installation)
    for process in evaluating:
        process.suspend()
    try:
        reason = installation.read(f"evaluations/{asked[2]['id']}")["reason"]
        assert re.fullmatch(r"Waits for an evaluation on worker \w+ or an evaluation on worker \w+\.", reason)
        page.goto(f"/runs/{run}/live")
        expect(page.get_by_role("region", name="Live game").get_by_role("button", name="Pause")).to_be_enabled()
        wait_for_another_picture(page, installation)
        assert states() == ["running", "running", "queued"]
    finally:
        for process in evaluating:
            process.resume()
    page.goto("/")
    for each in asked:
        installation.http.post(f"evaluations/{each['id']}/cancel")  # refused if it has ended
    installation.wait_until(lambda: not busy_processes(installation))


def test_a_live_game_runs_until_the_page_is_left(page: Page, installation: Installation) -> None:
    run = installation.launch(**SAVING)
    installation.wait_for_checkpoint(run)
    # Other runs would slow it down.
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")

    page.goto(f"/runs/{run}")
    page.get_by_role("link", name="Watch live").click()
    stage = page.get_by_role("region", name="Live game")
    pause = stage.get_by_role("button", name="Pause")
    expect(pause).to_be_enabled()
    wait_for_another_picture(page, installation)
    expect(stage).to_contain_text("Probability of each action")
    expect(stage.get_by_text(re.compile(r"^\d+ ms$"))).to_be_visible()

    pause.click()
    expect(stage.get_by_role("button", name="Resume game")).to_be_visible()
    stage.get_by_role("button", name="Resume game").click()
    expect(pause).to_be_visible()

    killed = playing_process(installation)
    killed.send_signal(signal.SIGKILL)
    # The note disappears immediately if a process was ready.
    installation.wait_until(lambda: playing_process(installation) != killed)
    expect(pause).to_be_enabled()
    wait_for_another_picture(page, installation)

    (game,) = installation.read(f"runs/{run}/live")
    page.get_by_role("tab", name="Overview").click()
    installation.wait_until(lambda: installation.read(f"live/{game['id']}")["state"] == "done")
    assert installation.read(f"runs/{run}/live") == []


def test_a_played_game_can_be_kept_and_used_as_start_points(page: Page, installation: Installation) -> None:
    page.goto("/games/pong")
    page.get_by_role("link", name="Play", exact=True).click()
    stage = page.get_by_role("region", name="Live game")
    begins = stage.get_by_text("Press an arrow key or Space to start.")
    expect(begins).to_be_visible()
    page.keyboard.press("Space")
    wait_for_another_picture(page, installation)

    killed = playing_process(installation)
    killed.send_signal(signal.SIGKILL)
    installation.wait_until(lambda: playing_process(installation) != killed)
    expect(begins).to_be_visible()

    def play_a_little() -> bool:
        """Hold each key until the picture has moved. 100 start points need more than 100 frames."""
        for key in ("Space", "ArrowUp", "ArrowDown"):
            page.keyboard.down(key)
            wait_for_another_picture(page, installation)
            page.keyboard.up(key)
        return stage.get_by_text(re.compile(r"^([3-9]|\d\d+) s$|min")).is_visible()

    installation.wait_until(play_a_little)
    expect(stage.get_by_text(re.compile(r"^\d+ ms$"))).to_be_visible()
    stage.get_by_role("button", name="Keep this game").click()
    number = int(page.url.rpartition("/")[2])
    kept = page.get_by_role("region", name="Kept games")
    kept.get_by_role("button", name="Keep as start points").click()
    installation.wait_until(lambda: installation.read("start-sets"))
    page.get_by_role("link", name="Scores of Pong").click()
    expect(page.get_by_role("region", name="Start points")).to_contain_text("Kept game")

    (stored,) = installation.read("start-sets")
    points = StartSetFile.model_validate(installation.read(f"export/start-sets/{stored['id']}.json"))
    assert len(points.starts) == 100
    again = AtariGame(points.env, cap_frames=None, frames_per_step=1)
    for start in points.starts:
        playing.arrive(again, start)
        assert again.screen_hash() == start.screen
    installation.wait_until(lambda: installation.read(f"games/pong/play/{number}")["state"] == "done")


def test_a_replay_is_continued_and_the_kept_game_is_next_to_the_futures(page: Page, installation: Installation) -> None:
    run = installation.launch(**SAVING)
    installation.wait_for_checkpoint(run)
    installation.post(f"runs/{run}/stop")
    installation.wait_for_state(run, "stopped")
    recording = installation.post(f"runs/{run}/recordings", {"checkpoint": "newest", "seed": 1})["id"]
    installation.wait_until(lambda: installation.read(f"recordings/{recording}")["replay_id"])
    replay = installation.read(f"recordings/{recording}")["replay_id"]

    page.goto(f"/runs/{run}/replays?replays={replay}&t=0.1")
    page.get_by_role("button", name="Play from here").click()
    stage = page.get_by_role("region", name="Live game")
    waits = stage.get_by_text("Press a key to take over")
    expect(waits).to_be_visible()
    expect(stage.get_by_text("Score from here")).to_be_visible()

    killed = playing_process(installation)
    killed.send_signal(signal.SIGKILL)
    installation.wait_until(lambda: playing_process(installation) != killed)
    expect(waits).to_be_visible()

    page.keyboard.press("ArrowLeft")
    expect(stage.get_by_text("You", exact=True)).to_be_visible()
    stage.get_by_role("button", name="Hand to the agent").click()
    expect(stage.get_by_text(re.compile("^Game over"))).to_be_visible()
    stage.get_by_role("button", name="Keep this game").click()
    expect(page.get_by_role("region", name="Kept games")).to_contain_text("played by the agent")

    page.get_by_role("link", name="Back to the replay").click()
    page.get_by_role("button", name="Simulate").click()
    own = page.get_by_role("region", name="Your games from this replay")
    expect(own.get_by_text(re.compile(r"^You and the agent: \d+; agent from here: "))).to_be_visible()
