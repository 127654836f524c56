"""Replays in a browser: the video, the agent's track and the URL always show the same moment."""

import re
from collections.abc import Iterator
from pathlib import Path

import av
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.browser.synthetic_replay import (
    ACTIONS,
    BITS,
    DECISIONS,
    FOR_POLICY,
    FOR_VALUE,
    FRAMES_PER_ACTION,
    LIFE_LOST,
    LOST,
    PICTURES,
    WON,
    report_replay,
    synthetic_saliency,
)
from tests.browser.synthetic_replay import PICTURES_PER_SECOND as RATE
from tests.factories import PONG, Api, checkpoint_path, event, sha256, started, weights
from tests.installation import Installation
from tests.workers.waiting import wait_until

# Returns the number in the shown picture of a video. The network's input is upside down.
SHOWN_NUMBER_SCRIPT = """(video, [bits, turned]) => {
    const canvas = document.createElement('canvas'), side = video.videoWidth / bits;
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    const pen = canvas.getContext('2d');
    if (turned) { pen.translate(canvas.width, canvas.height); pen.rotate(Math.PI); }
    pen.drawImage(video, 0, 0);
    return [...Array(bits).keys()].reduce((number, bit) =>
        number + (pen.getImageData((bit + 0.5) * side, side / 2, 1, 1).data[0] > 128 ? 2 ** bit : 0), 0);
}"""

# Returns whether the videos get within a picture of each other in a number of page frames, before they restart.
ARE_IN_SYNC_SCRIPT = """async ([rate, looks, held]) => {
    const videos = [...document.querySelectorAll('video')];
    if (held) videos[held].currentTime -= 0.25;
    for (let [near, before, apart] = [0, 0]; near < looks;) {
        await new Promise(requestAnimationFrame);
        const times = videos.map(video => video.currentTime), last = Math.max(...times);
        if (last < before - 1) return false;
        [before, apart] = [last, (last - Math.min(...times)) * rate];
        near = apart < 1 && !videos.some(video => video.paused) ? near + 1 : 0;
    }
    return true;
}"""
LOOKS = 10

# Returns the maximum distance in pictures between videos while they play for some seconds. The count pauses while one
# video has nothing to show, and resumes once all are in sync, because a busy computer may start one later. Such a
# computer may also report a stall late, so only lasting distances above one picture count.
MAX_DISTANCE_SCRIPT = """async ([rate, seconds]) => {
    const videos = [...document.querySelectorAll('video')];
    let [waited, far, played, most, before, still] = [true, 0, 0, 0, null, []];
    for (const video of videos) video.addEventListener('waiting', () => { waited = true; });
    while (played < seconds) {
        await new Promise(requestAnimationFrame);
        const times = videos.map(video => video.currentTime);
        const apart = (Math.max(...times) - Math.min(...times)) * rate;
        if (waited || times[0] < before || videos.some(each => each.paused || each.seeking || each.readyState < 3)) {
            [waited, far, before, still] = [false, 0, null, times];
        } else if (before === null) {
            if (apart < 0.5 && times.every((time, which) => time > still[which])) before = times[0];
        } else {
            far = apart < 1 ? 0 : far + 1;
            if (far > 3) return apart;
            if (far === 0) most = Math.max(most, apart);
            played += times[0] - before;
            before = times[0];
        }
    }
    return most;
}"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers, with two replays of one run."""
    with (
        installation_without_workers(tmp_path_factory.mktemp("replays")) as installation,
        open_api(installation) as api,
    ):
        report(api, tmp_path_factory)
        yield installation


def report(api: Api, folders: pytest.TempPathFactory) -> None:
    """Report run 1 with replays 1 and 2."""
    run = api.running(config=PONG)
    for seq, step in ((2, 100), (4, 200)):
        api.save(*run, seq, step, kept=[checkpoint_path(each) for each in (100, 200) if each <= step])
        report_replay(api, run, seq + 1, step, folders.mktemp("recorded"))


def moment_of(picture: int) -> str:
    return f"{(picture + 0.5) / RATE:.3f}"


def at_moment(page: Page, picture: int, replays: str = "2") -> Locator:
    """Open replays at a picture and return the chart's slider."""
    page.goto(f"/runs/1/replays?replays={replays}&t={moment_of(picture)}")
    expect_picture(page, picture)
    return page.get_by_role("slider", name="Moment of the replay")


def drawn(video: Locator, *, turned: bool = False) -> int:
    """Return the number of the shown picture of a video, or -1."""
    return (
        int(video.evaluate(SHOWN_NUMBER_SCRIPT, [BITS, turned]))
        if video.evaluate("video => video.readyState >= 2")
        else -1
    )


def expect_picture(page: Page, picture: int) -> None:
    """Wait until the video and the track show a picture."""
    video = page.get_by_label(re.compile("^Replay at")).and_(page.locator("video")).first
    expect(video).to_be_visible()
    wait_until(lambda: drawn(video) == picture)
    expect(page.get_by_role("slider", name="Moment of the replay")).to_have_attribute("aria-valuenow", str(picture))
    expect(page.get_by_text(f"{picture // FRAMES_PER_ACTION + 1} of {DECISIONS}", exact=True)).to_be_visible()


def test_a_link_opens_paused_at_its_moment(page: Page) -> None:
    at_moment(page, 61)
    expect(page.get_by_role("button", name="Play replay")).to_be_visible()


def test_clicking_the_chart_moves_the_video_and_stepping_moves_the_cursor(page: Page) -> None:
    chart = at_moment(page, 3)
    box = chart.bounding_box()
    assert box is not None
    chart.click(position={"x": box["width"] * 100.5 / PICTURES, "y": box["height"] / 2})
    expect_picture(page, 100)
    page.wait_for_url(re.compile(rf"t={re.escape(moment_of(100).rstrip('0'))}\b"))
    for key, picture in ((".", 101), (",", 100), ("]", 104), ("[", 100), ("ArrowRight", 104), ("Home", 0)):
        page.keyboard.press(key)
        expect_picture(page, picture)
    page.get_by_role("button", name="Next frame").click()
    expect_picture(page, 1)


@pytest.mark.nightly
def test_buttons_seek_to_events(page: Page) -> None:
    at_moment(page, 0)
    for name, decision in (("Next reward", WON), ("Next reward", LOST), ("Next lost life", LIFE_LOST)):
        page.get_by_role("button", name=name).click()
        expect_picture(page, decision * FRAMES_PER_ACTION)
    for name in ("Next reward", "Next lost life"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()


def test_bars_name_the_actions_and_mark_the_chosen_one(page: Page) -> None:
    at_moment(page, 5 * FRAMES_PER_ACTION)
    bars = page.get_by_role("region", name="Probability of each action").get_by_role("listitem")
    for bar, name, share in zip(bars.all(), ACTIONS, (10, 20, 30, 40), strict=True):
        expect(bar).to_contain_text(name)
        expect(bar).to_contain_text(f"{share}.0 %")
    expect(bars.filter(has_text="taken")).to_contain_text(ACTIONS[5 % len(ACTIONS)])


@pytest.mark.nightly
def test_replays_side_by_side_stay_in_sync(page: Page) -> None:
    at_moment(page, 6, replays="1,2")
    page.get_by_text("Beside", exact=True).click()
    videos = page.locator("video")
    expect(videos).to_have_count(4)
    page.get_by_role("button", name="Play replay").click()
    assert page.evaluate(ARE_IN_SYNC_SCRIPT, [RATE, LOOKS, None])
    assert page.evaluate(ARE_IN_SYNC_SCRIPT, [RATE, LOOKS, 2]), "a stalled video catches up"
    page.get_by_role("button", name="Pause replay").click()
    wait_until(lambda: len({drawn(videos.nth(each), turned=each % 2 == 1) for each in range(4)} - {-1}) == 1)
    expect_picture(page, drawn(videos.first))


@pytest.mark.nightly
def test_two_replays_stay_within_a_picture_of_each_other_for_thirty_seconds(page: Page) -> None:
    at_moment(page, 0, replays="1,2")
    page.get_by_role("radiogroup", name="Speed").get_by_text("4×", exact=True).click()
    page.get_by_role("button", name="Play replay").click()
    assert page.evaluate(MAX_DISTANCE_SCRIPT, [RATE, 30]) < 1


# Returns the overlay's opacities at the policy's and the value's place, and their sum.
OPACITIES_SCRIPT = """(canvas, places) => {
    const of = (row, column, side, height) => canvas.getContext('2d').getImageData(column, row, side, height).data
        .filter((_, at) => at % 4 === 3).reduce((sum, each) => sum + each, 0);
    return [...places.map(([row, column]) => of(row, column, 1, 1)), of(0, 0, canvas.width, canvas.height)];
}"""


@pytest.mark.nightly
def test_saliency_is_requested_and_drawn_over_the_picture(page: Page, installation: Installation) -> None:
    at_moment(page, 12)
    page.get_by_role("button", name="Compute").click()
    state = page.get_by_role("status").filter(has_text=re.compile("worker|Computing"))
    expect(state).to_contain_text("worker")
    with open_api(installation) as api:
        held = claimed_saliency(api)
        assert api.send_of_job(*held, started(1), event(2, "advanced", 200, done=10, total=DECISIONS)).is_success
        expect(state).to_have_text("Computing, 25 %")
        bring_saliency(api, held)
    overlay = page.get_by_role("img", name="Saliency over the picture")
    expect(overlay).to_have_attribute("data-decision", "3")
    choice = page.get_by_role("radiogroup", name="Saliency")
    policy, value, total = overlay.evaluate(OPACITIES_SCRIPT, [FOR_POLICY, FOR_VALUE])
    assert (policy > 0, value > 0, total) == (True, True, policy + value)
    for name, painted in (("Policy", [policy, 0, policy]), ("Value", [0, value, value])):
        choice.get_by_text(name, exact=True).click()
        wait_until(lambda painted=painted: overlay.evaluate(OPACITIES_SCRIPT, [FOR_POLICY, FOR_VALUE]) == painted)  # type: ignore[misc]
    page.keyboard.press("]")
    expect(overlay).to_have_attribute("data-decision", "4")
    choice.get_by_text("Off", exact=True).click()
    expect(overlay).to_have_count(0)


def claimed_saliency(api: Api) -> tuple[int, int]:
    """Claim the queued saliency job and return its number and attempt."""
    claimed = api.claim_job()
    assert claimed["kind"] == "saliency"
    return claimed["job_id"], claimed["attempt"]


def bring_saliency(api: Api, held: tuple[int, int]) -> None:
    """Upload the saliency of the replay at step 200."""
    content = synthetic_saliency(200, sha256(weights(1, 200)))
    query: dict[str, str | int] = {
        "attempt": held[1],
        "kind": "saliency",
        "path": "saliency.npz",
        "sha256": sha256(content),
    }
    assert api.worker.put(f"/api/v1/worker/jobs/{held[0]}/files", params=query, content=content).is_success
    brought = event(3, "saliency", 200, file="saliency.npz"), event(4, "finished")
    assert api.send_of_job(*held, *brought).is_success
    assert api.release_job(*held, "finished").json() == {"state": "done"}


def numbers_of(clip: Path) -> list[int]:
    """Return the numbers in the pictures of a GIF."""
    with av.open(str(clip)) as container:
        pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    side = pictures[0].shape[1] // BITS
    return [
        sum(2**bit for bit in range(BITS) if picture[side // 2, (2 * bit + 1) * side // 2, 0] > 128)
        for picture in pictures
    ]


@pytest.mark.nightly
def test_a_clip_has_exactly_the_pictures_between_its_marks(page: Page, tmp_path: Path) -> None:
    at_moment(page, 4)
    for mark, steps in (("Start here", 6), ("End here", 0)):
        page.get_by_role("button", name="Clip").click()
        page.get_by_role("button", name=mark).click()
        page.keyboard.press("Escape")
        for step in range(steps):
            page.keyboard.press("]")
            expect_picture(page, (step + 2) * FRAMES_PER_ACTION)
    page.get_by_role("button", name="Clip").click()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download GIF").click()
    clip = tmp_path / "clip.gif"
    downloading.value.save_as(clip)
    assert downloading.value.suggested_filename == "run-1-step-200-0.2-to-1.4s.gif"
    assert numbers_of(clip) == list(range(4, 28))
