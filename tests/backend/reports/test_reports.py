"""The reports API: blocks, edits, block content, the read-only link and the export."""

import base64
from html.parser import HTMLParser
from typing import Any

import pytest
from fastapi.testclient import TestClient

from arcadia_backend.config import Settings
from arcadia_backend.reports.schemas import MAX_BLOCKS
from tests.factories import Api, metrics, video

CURVES = "/api/v1/figures/curves?runs={}"


def text(markdown: str = "Hello") -> dict[str, Any]:
    return {"kind": "text", "markdown": markdown}


def create_report(api: Api, *blocks: dict[str, Any]) -> dict[str, Any]:
    """Create a report with these blocks."""
    answer = api.user.post("/api/v1/reports", json={"title": "Rates", "blocks": blocks})
    assert answer.status_code == 201, answer.text
    report: dict[str, Any] = answer.json()
    return report


def preview(api: Api, block: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a block."""
    answer = api.user.post("/api/v1/reports/preview", json={"block": block})
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


def run_with_replay(api: Api, name: str = "Rally") -> tuple[int, dict[str, Any]]:
    """Return the id of a run with a replay, and the replay."""
    run, attempt = api.running(name=name)
    api.save(run, attempt, 2, 100)
    for kind, ending, content in (("video", "mp4", b"film"), ("poster", "png", b"picture")):
        api.upload(run, attempt, f"replays/100.{ending}", content, kind)
    api.send(run, attempt, metrics(3, 100, returns=[1.0, 3.0]), video(4, 100, 100)).raise_for_status()
    (found,) = api.user.get(f"/api/v1/runs/{run}/replays").json()
    return run, found


def test_report_is_created_edited_listed_and_deleted(api: Api) -> None:
    report = create_report(api, text())
    assert (report["title"], report["version"], report["share_token"]) == ("Rates", 1, None)
    address = f"/api/v1/reports/{report['id']}"
    changed = api.user.patch(address, json={"version": 1, "blocks": [text("One"), text("Two")]}).json()
    assert (changed["title"], changed["version"]) == ("Rates", 2)
    assert [block["markdown"] for block in changed["blocks"]] == ["One", "Two"]
    later = create_report(api)
    listed = api.user.get("/api/v1/reports").json()
    assert [(each["id"], each["blocks"], each["shared"]) for each in listed] == [
        (later["id"], 0, False),
        (report["id"], 2, False),
    ]
    assert api.user.delete(address).status_code == 204
    assert api.user.get(address).status_code == 404


def test_edit_of_an_older_version_is_rejected(api: Api) -> None:
    address = f"/api/v1/reports/{create_report(api, text('First'))['id']}"
    api.user.patch(address, json={"version": 1, "title": "Mine"}).raise_for_status()
    refused = api.user.patch(address, json={"version": 1, "blocks": []})
    assert refused.status_code == 409
    assert "it is now at version 2, but yours is based on version 1" in refused.json()["detail"]
    kept = api.user.get(address).json()
    assert (kept["title"], kept["version"], len(kept["blocks"])) == ("Mine", 2, 1)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("block", "reported"),
    [
        (
            {"kind": "chart", "address": "/api/v1/runs"},
            "use the address of a figure, such as /api/v1/figures/curves?runs=1,2",
        ),
        ({"kind": "chart", "address": "https://example.org/api/v1/figures/curves"}, "should match pattern"),
        ({"kind": "chart", "address": "/api/v1/figures/../runs"}, "use the address of a figure"),
        ({"kind": "text", "markdown": "x" * 20_001}, "at most 20000 characters"),
        ({"kind": "table", "of": "runs", "numbers": []}, "at least 1 item"),
        ({"kind": "table", "of": "runs", "numbers": [1], "columns": ["notes"]}, "should match pattern"),
        ({"kind": "replay", "replay": 0}, "greater than or equal to 1"),
        ({"kind": "html", "markdown": "<b>"}, "'text', 'chart', 'table', 'replay', 'review'"),
    ],
)
def test_invalid_block_is_rejected_with_its_index(api: Api, block: dict[str, Any], reported: str) -> None:
    refused = api.user.post("/api/v1/reports", json={"title": "x", "blocks": [text(), block]})
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert error["field"].startswith("blocks.1")
    assert reported in error["message"]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_too_many_blocks_are_rejected(api: Api) -> None:
    refused = api.user.post("/api/v1/reports", json={"title": "x", "blocks": [text()] * (MAX_BLOCKS + 1)})
    assert refused.status_code == 422
    assert "at most 100 items" in refused.json()["detail"]


def test_unfinished_block_is_hidden_from_readers(api: Api) -> None:
    draft = {"kind": "draft", "content": '{"kind": "chart", "address": "half typed'}
    report = create_report(api, text("Before"), draft, text("After"))
    address = f"/api/v1/reports/{report['id']}"
    assert api.user.get(address).json()["blocks"][1] == draft
    assert preview(api, draft)["problem"] == "This block is not finished."
    assert "half typed" not in api.user.get(f"{address}/export").text
    token = api.user.post(f"{address}/share").json()["share_token"]
    shared = api.user.get(f"/api/v1/shared/{token}")
    assert [block["markdown"] for block in shared.json()["blocks"]] == ["Before", "After"]
    assert api.user.get(f"/api/v1/shared/{token}/blocks/1").json()["problem"] is None
    assert api.user.get(f"/api/v1/shared/{token}/blocks/2").status_code == 404


def test_chart_block_has_the_current_figure(api: Api) -> None:
    run, attempt = api.running(name="Curve")
    api.send(run, attempt, metrics(2, 100, returns=[1.0, 3.0])).raise_for_status()
    chart = {"kind": "chart", "address": CURVES.format(run)}
    first = preview(api, chart)["figure"]
    assert first == api.user.get(CURVES.format(run)).json()
    api.send(run, attempt, metrics(3, 200, returns=[9.0])).raise_for_status()
    assert preview(api, chart)["figure"] == api.user.get(CURVES.format(run)).json() != first
    gone = preview(api, {"kind": "chart", "address": CURVES.format(run + 1)})
    assert (gone["figure"], gone["problem"]) == (None, f"There is no run {run + 1}.")
    wrong = preview(api, {"kind": "chart", "address": CURVES.format(run) + "&buckets=0"})
    assert "buckets" in wrong["problem"]


def test_chart_draws_existing_runs_and_lists_deleted_ones(api: Api) -> None:
    run, attempt = api.running(name="Curve")
    api.send(run, attempt, metrics(2, 100, returns=[1.0, 3.0])).raise_for_status()
    content = preview(api, {"kind": "chart", "address": CURVES.format(f"98,+{run},99") + "&x=frames"})
    assert content["missing"] == "Runs 98, 99 were deleted."
    assert content["figure"] == api.user.get(CURVES.format(run) + "&x=frames").json()


def test_table_has_existing_runs_and_lists_deleted_ones(api: Api) -> None:
    run, attempt = api.running(name="Quick")
    api.send(run, attempt, metrics(2, 100, returns=[1.0, 3.0])).raise_for_status()
    columns = ["name", "method", "env", "step", "last_return", "config.num_envs"]
    content = preview(api, {"kind": "table", "of": "runs", "numbers": [run, 99], "columns": columns})
    table = content["table"]
    assert table["header"] == ["Run", "Method", "Game", "Steps", "Last return", "Environments"]
    assert table["rows"] == [[f"Quick #{run}", "PAAC", "CartPole", 100, 2.0, 4]]
    assert content["missing"] == "Run 99 was deleted."


def test_table_has_evaluations(api: Api) -> None:
    run, attempt = api.running(name="Scored")
    api.save(run, attempt, 2, 100)
    api.evaluate(run, protocol="episodes")
    api.play([1.0, 3.0])
    table = preview(api, {"kind": "table", "of": "evaluations", "numbers": [run]})["table"]
    assert table["rows"] == [[f"Scored #{run}", 100, "episodes", 2, 2.0, 1.0, 3.0, None]]


def test_table_has_points_of_a_study(api: Api) -> None:
    asked = {
        "name": "Rates",
        "config": {"algorithm": "paac", "env": "CartPole-v1", "total_steps": 1_000},
        "axes": [{"field": "learning_rate", "values": [0.001, 0.003]}],
        "seeds": [1],
        "confirm_steps": 2_000,
    }
    study = api.user.post("/api/v1/studies", json=asked)
    assert study.status_code == 201, study.text
    table = preview(api, {"kind": "table", "of": "study", "numbers": [study.json()["id"]]})["table"]
    assert [row[1:] for row in table["rows"]] == [[0, 0, None, None, None]] * 2
    assert table["header"][1:3] == ["Finished runs", "Failed runs"]
    assert "0.003" in table["rows"][1][0]
    assert preview(api, {"kind": "table", "of": "study", "numbers": [99]})["problem"] == "There is no study 99."


def test_added_replay_is_pinned_and_a_missing_one_is_reported(api: Api) -> None:
    run, replay = run_with_replay(api)
    block = {"kind": "replay", "replay": replay["id"]}
    create_report(api, block)
    (kept,) = api.user.get(f"/api/v1/runs/{run}/replays").json()
    assert (replay["pinned"], kept["pinned"]) == (False, True)
    content = preview(api, block)["replay"]
    assert (content["run_name"], content["step"], content["file_id"]) == ("Rally", 100, replay["file_id"])
    assert preview(api, {"kind": "replay", "replay": 99})["problem"] == "There is no replay 99."


def test_link_opens_only_its_report_until_it_is_revoked(api: Api) -> None:
    run, replay = run_with_replay(api)
    _, other = run_with_replay(api, "Other")
    report = create_report(api, text("Look"), {"kind": "chart", "address": CURVES.format(run)})
    address = f"/api/v1/reports/{report['id']}"
    blocks = [*report["blocks"], {"kind": "replay", "replay": replay["id"]}]
    api.user.patch(address, json={"version": 1, "blocks": blocks}).raise_for_status()
    token = api.user.post(f"{address}/share").json()["share_token"]
    assert api.user.post(f"{address}/share").json()["share_token"] == token
    link = f"/api/v1/shared/{token}"
    assert api.user.get(link).json()["title"] == "Rates"
    assert api.user.get(f"{link}/blocks/1").json()["figure"] == api.user.get(CURVES.format(run)).json()
    assert api.user.get(f"{link}/blocks/2").json()["replay"]["file_id"] == replay["file_id"]
    assert (
        api.user.get(f"{link}/blocks/3").json()["detail"]
        == "The report has no block 3. It has 3 blocks, starting at 0."
    )
    assert api.user.get(f"{link}/files/{replay['file_id']}").content == b"film"
    assert api.user.get(f"{link}/files/{replay['poster_file_id']}").content == b"picture"
    # Another run's replay, and a checkpoint of this run.
    for number in (other["file_id"], replay["file_id"] - 1):
        assert api.user.get(f"/api/v1/files/{number}").status_code == 200
        assert api.user.get(f"{link}/files/{number}").status_code == 404
    assert api.user.delete(f"{address}/share").json()["share_token"] is None
    for place in ("", "/blocks/1", f"/files/{replay['file_id']}"):
        assert api.user.get(link + place).status_code == 404


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_link_works_without_signing_in(api: Api, client: TestClient) -> None:
    run, replay = run_with_replay(api)
    chart = {"kind": "chart", "address": CURVES.format(run)}
    report = create_report(api, chart, {"kind": "replay", "replay": replay["id"]})
    token = api.user.post(f"/api/v1/reports/{report['id']}/share").json()["share_token"]
    # From now on, the API requires a token from users, and this client does not have it.
    settings = client.app.state.settings  # type: ignore[attr-defined]
    client.app.state.settings = settings.model_validate({**settings.model_dump(), "token": "user-secret"})  # type: ignore[attr-defined]
    client.app.state.credentials._token = "user-secret"  # type: ignore[attr-defined]
    for place in ("", "/blocks/0", "/blocks/1", f"/files/{replay['file_id']}"):
        assert client.get(f"/api/v1/shared/{token}{place}").status_code == 200, place
    assert client.get(f"/api/v1/shared/{token}/blocks/0").json()["figure"]["data"]
    for closed in (CURVES.format(run), f"/api/v1/reports/{report['id']}", f"/api/v1/files/{replay['file_id']}"):
        assert client.get(closed).status_code == 401, closed
    assert client.get(f"/api/v1/shared/{token[:-1]}").status_code == 404


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_export_is_self_contained_and_escapes_user_text(api: Api) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    run, replay = run_with_replay(api, evil)
    other, attempt = api.running(name="Another")
    api.send(other, attempt, metrics(2, 100, returns=[5.0])).raise_for_status()
    chart = {"kind": "chart", "address": CURVES.format(f"{run},{other}"), "caption": evil}
    table = {"kind": "table", "of": "runs", "numbers": [run], "columns": ["name", "step"]}
    gone = {"kind": "chart", "address": CURVES.format(99)}
    report = create_report(api, text(f"# Why\n{evil} [x](javascript:alert(3))"), chart, table, gone)
    address = f"/api/v1/reports/{report['id']}"
    api.user.patch(
        address,
        json={"version": 1, "title": evil, "blocks": [*report["blocks"], {"kind": "replay", "replay": replay["id"]}]},
    ).raise_for_status()
    answer = api.user.get(f"{address}/export")
    assert answer.headers["content-disposition"] == f'attachment; filename="report-{report["id"]}.html"'
    page = answer.text
    seen = Elements()
    seen.feed(page)
    # The page's own two scripts and the figure's numbers. User text neither opened nor closed a script element.
    assert [dict(each).get("type") for tag, each in seen.begun if tag == "script"] == ["application/json", None, None]
    assert page.count("</script>") == 3
    assert [tag for tag, _ in seen.begun if tag == "img"] == []
    named = {name for _, each in seen.begun for name, _ in each}
    assert not [name for name in named if name.startswith("on")]
    assert [dict(each) for tag, each in seen.begun if tag == "a"] == []
    addresses = [value or "" for _, each in seen.begun for name, value in each if name in ("src", "href", "poster")]
    assert [each.partition(";")[0] for each in addresses] == ["data:image/png", "data:video/mp4"]
    assert [base64.b64decode(each.partition(",")[2]) for each in addresses] == [b"picture", b"film"]
    assert "<h2>Why</h2>" in page
    assert "This chart cannot be shown: There is no run 99." in page
    assert '<td class="number">100</td>' in page


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_export_reports_a_deleted_video(api: Api, settings: Settings) -> None:
    _, replay = run_with_replay(api)
    report = create_report(api, {"kind": "replay", "replay": replay["id"]})
    for path in settings.files_dir.rglob("*"):
        if path.is_file() and path.read_bytes() == b"film":
            path.unlink()
    page = api.user.get(f"/api/v1/reports/{report['id']}/export").text
    assert "<video" not in page
    assert "The video was deleted." in page


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_export_replaces_a_large_video_by_its_thumbnail(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_backend.reports.html_export.MAX_VIDEO_BYTES", 3)
    _, replay = run_with_replay(api)
    report = create_report(api, {"kind": "replay", "replay": replay["id"]})
    page = api.user.get(f"/api/v1/reports/{report['id']}/export").text
    assert "<video" not in page
    assert "The video is too large" in page
    assert base64.b64encode(b"picture").decode() in page
    # A report without charts needs no script.
    assert "script-src 'none'" in page
    assert "<script" not in page


def test_image_in_a_text_is_pinned_and_shown_by_link_and_export(api: Api) -> None:
    run, replay = run_with_replay(api)
    _, other = run_with_replay(api, "Other")
    poster, film, hidden = replay["poster_file_id"], replay["file_id"], other["poster_file_id"]
    report = create_report(
        api, text(f"![A rally](/api/v1/files/{poster}) ![no film](/api/v1/files/{film}) ![gone](/api/v1/files/999)")
    )
    (kept,) = api.user.get(f"/api/v1/runs/{run}/replays").json()
    assert kept["pinned"]
    address = f"/api/v1/reports/{report['id']}"
    link = f"/api/v1/shared/{api.user.post(f'{address}/share').json()['share_token']}"
    assert api.user.get(f"{link}/files/{poster}").content == b"picture"
    for number in (film, hidden, 999):
        assert api.user.get(f"{link}/files/{number}").status_code == 404
    picture = base64.b64encode(b"picture").decode()
    page = api.user.get(f"{address}/export").text
    assert f'<p><img src="data:image/png;base64,{picture}" alt="A rally"> no film gone</p>' in page


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_export_replaces_a_large_image_by_its_text(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia_backend.reports.html_export.MAX_IMAGE_BYTES", 3)
    _, replay = run_with_replay(api)
    report = create_report(api, text(f"![A rally](/api/v1/files/{replay['poster_file_id']})"))
    assert "<p>A rally</p>" in api.user.get(f"/api/v1/reports/{report['id']}/export").text


class Elements(HTMLParser):
    """Parser that collects the start tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.begun.append((tag, attrs))
