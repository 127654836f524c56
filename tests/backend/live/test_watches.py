"""Watches of documents: when they are evaluated, and what pages receive."""

import asyncio
from contextlib import ExitStack

import pytest

from arcadia_backend.live import notices, watches
from arcadia_backend.live.notices import PAGE_QUEUE_LIMIT, REFETCH, Topic
from arcadia_backend.live.watches import MAX_CONCURRENT_EVALUATIONS, Credentials, Page, ShownDocument
from tests.backend.live.simulation import ANA, RUN, RUN_CHANGED, RUNS, Server, run, taken
from tests.workers.waiting import PATIENCE_SECONDS

BEN = Credentials("http", "localhost", "", "ben")


async def heard(page: Page) -> list[tuple[str, int | None]]:
    """Return the names of the notices that wait for a page, with their runs."""
    return [(name, payload.get("run_id")) for name, payload in await taken(page)]


@pytest.fixture(autouse=True)
def _pass_notices_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "COALESCE_SECONDS", 0.0)


def test_a_page_that_missed_nothing_causes_no_evaluation() -> None:
    async def work(server: Server) -> None:
        await server.publish()
        with server.watches.open(ANA) as page:
            assert server.watches.watch(page.id, ANA, [await server.shown(RUNS)])
            await server.publish("worker.changed", name="w1")
            # The same watches again, as when the page shows another document as well.
            assert server.watches.watch(page.id, ANA, [await server.shown(RUNS), await server.shown(RUN)])
            assert await server.changes(page) == []
        assert not server.evaluated

    run(work)


def test_a_change_is_sent_as_a_patch() -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            shown = await server.shown(RUNS)
            server.watches.watch(page.id, ANA, [shown])
            server.documents[RUNS][0]["step"] = 5
            await server.publish()
            first = await server.changes(page)
            server.documents[RUNS][0]["step"] = 6
            await server.publish()
            second = await server.changes(page)
            # A notice without a change.
            await server.publish()
            assert await server.changes(page) == []
        assert [(change["from"], change["patch"]) for change in (*first, *second)] == [
            (shown.etag, [["set", [0, "step"], 5]]),
            (first[0]["etag"], [["set", [0, "step"], 6]]),
        ]
        assert second[0]["etag"] == (await server.get(RUNS)).etag

    run(work)


def test_a_notice_between_the_request_and_the_watch_is_not_missed() -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            shown = await server.shown(RUNS)
            server.documents[RUNS][0]["step"] = 5
            await server.publish(run_id=1)
            # Later notices of other kinds, and of other runs, do not hide it.
            for run_id in range(2, 10):
                await server.publish(run_id=run_id)
                await server.publish("worker.changed", name=f"w{run_id}")
            server.watches.watch(page.id, ANA, [shown])
            assert [change["patch"] for change in await server.changes(page)] == [[["set", [0, "step"], 5]]]

    run(work)


def test_a_page_receives_only_the_notices_that_it_wants() -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            await server.publish(run_id=1)
            server.watches.watch(page.id, ANA, [], [Topic(frozenset({"run.changed"}), {"run_id": 2})])
            for run_id in (1, 2, 3):
                await server.publish(run_id=run_id)
            await server.publish(REFETCH)
            assert await heard(page) == [("run.changed", 1), ("run.changed", 2), (REFETCH, 1)]
            server.watches.watch(page.id, ANA, [])
            await server.publish(run_id=4)
            # The page wants all notices again, so it may have missed earlier ones.
            assert await heard(page) == [("run.changed", 1), ("run.changed", 3), ("run.changed", 4)]

    run(work)


def test_a_notice_between_a_response_and_the_wish_for_it_is_repeated() -> None:
    async def work(server: Server) -> None:
        await server.publish(run_id=1)
        with server.watches.open(ANA) as page:
            server.watches.watch(page.id, ANA, [], [])
            for run_id in (2, 3, 2):
                await server.publish(run_id=run_id)
            assert await heard(page) == []
            wanted = [Topic(frozenset({"run.changed"}), {"run_id": run_id}) for run_id in (1, 2)]
            for _ in range(2):
                server.watches.watch(page.id, ANA, [], wanted)
            assert await heard(page) == [("run.changed", 2)]

    run(work)


@pytest.mark.parametrize("missed", ["of this run", "of another run", "lost"])
def test_only_notices_of_a_topic_count_as_missed(missed: str) -> None:
    async def work(server: Server) -> None:
        topics = (Topic(frozenset({"run.changed"}), {"run_id": 1}),)
        with server.watches.open(ANA) as page:
            shown = await server.shown(RUN, topics)
            name, run_id = {"lost": (REFETCH, 0), "of this run": ("run.changed", 1)}.get(missed, ("run.changed", 2))
            await server.publish(name, run_id=run_id)
            server.watches.watch(page.id, ANA, [shown])
            await server.changes(page)
        assert sum(server.evaluated.values()) == (missed != "of another run")

    run(work)


def test_a_page_with_an_unknown_version_or_notice_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "RECENT_NOTICES", 3)

    async def work(server: Server) -> None:
        current = await server.shown(RUN)
        first = server.hub.newest
        for run_id in range(5):
            await server.publish("worker.changed", name=f"w{run_id}")
        newest = server.hub.newest
        for etag, notice, sent in (
            (None, None, 1),
            ("0" * 16, newest, 1),
            (current.etag, newest, 0),
            # Nothing is sent, because the version is the newest.
            (current.etag, first, 0),
            (current.etag, None, 0),
            (current.etag, "0" * 16 + "-1", 0),
            (current.etag, newest.rpartition("-")[0] + "-99", 0),
        ):
            server.evaluated.clear()
            with server.watches.open(ANA) as page:
                server.watches.watch(page.id, ANA, [ShownDocument(RUN, etag, notice, RUN_CHANGED, 0.0)])
                changes = await server.changes(page)
            assert [change["document"] for change in changes] == [server.documents[RUN]] * sent, (etag, notice)
            is_known = (etag, notice) == (current.etag, newest)
            assert sum(server.evaluated.values()) == (not is_known), (etag, notice)

    run(work)


def test_notices_of_other_processes_count_too() -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page, server.watches.open(ANA) as later:
            shown = await server.shown(RUNS)
            server.watches.watch(page.id, ANA, [shown])
            server.documents[RUNS][0]["step"] = 5
            before = server.hub.newest
            server.hub._receive("another", b'{"name": "run.changed", "payload": {"run_id": 1}}')
            while server.hub.newest == before:
                await asyncio.sleep(0)
            assert len(await server.changes(page)) == 1
            server.watches.watch(later.id, ANA, [shown])
            assert len(await server.changes(later)) == 1

    run(work)


def test_every_document_is_due_when_notices_may_be_lost() -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            topics = (Topic(frozenset({"run.removed"}), {"run_id": 1}),)
            server.watches.watch(page.id, ANA, [await server.shown(RUNS, ()), await server.shown(RUN, topics)])
            await server.publish(REFETCH)
            await server.changes(page)
        assert {path for path, _session in server.evaluated} == {RUNS, RUN}

    run(work)


def test_a_document_is_evaluated_only_once_in_its_interval() -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            server.watches.watch(page.id, ANA, [await server.shown(RUNS, every=2.0)])
            await server.publish()
            await server.changes(page)
            assert (server.clock.slept, server.evaluated.total()) == ([], 1)
            server.clock.now += 0.5
            for run_id in range(20):
                await server.publish(run_id=run_id)
            await server.changes(page)
            # The notices that came while the clock had to advance are merged with the first.
            assert server.clock.slept[0] == 1.5
            assert set(server.clock.slept[1:]) <= {2.0}
            server.clock.slept.clear()
            server.clock.now += 2.0
            await server.publish()
            await server.changes(page)
            assert server.clock.slept == []

    run(work)


def test_a_change_during_an_evaluation_is_evaluated_again() -> None:
    async def work(server: Server) -> None:
        began, goes_on = asyncio.Event(), asyncio.Event()

        async def wait() -> None:
            began.set()
            await goes_on.wait()

        with server.watches.open(ANA) as page:
            server.watches.watch(page.id, ANA, [await server.shown(RUNS)])
            server.delay = wait
            await server.publish()
            await began.wait()
            server.documents[RUNS] = []
            await server.publish()
            assert server.open == 1
            goes_on.set()
            assert [change["document"] for change in await server.changes(page)] == [[]]
        assert server.most_open == 1

    run(work)


def test_pages_with_the_same_credentials_share_an_evaluation() -> None:
    async def work(server: Server) -> None:
        with ExitStack() as stack:
            pages = [stack.enter_context(server.watches.open(who)) for who in (ANA, ANA, BEN)]
            for page in pages:
                server.watches.watch(page.id, page.credentials, [await server.shown(RUNS)])
            server.documents[RUNS][0]["step"] = 5
            await server.publish()
            patches = [[change["patch"] for change in await server.changes(page)] for page in pages]
        assert patches == [[[["set", [0, "step"], 5]]]] * 3
        assert server.evaluated == {(RUNS, "ana"): 1, (RUNS, "ben"): 1}

    run(work)


def test_few_documents_are_evaluated_at_once() -> None:
    async def work(server: Server) -> None:
        server.documents |= {f"/api/v1/runs/{n}": {"id": n} for n in range(20)}
        with server.watches.open(ANA) as page:
            paths = [f"/api/v1/runs/{n}" for n in range(20)]
            server.watches.watch(page.id, ANA, [ShownDocument(path, None, None, RUN_CHANGED, 0.0) for path in paths])
            assert {change["path"] for change in await server.changes(page)} == {*paths}
        assert server.most_open == MAX_CONCURRENT_EVALUATIONS

    run(work)


def test_a_failed_request_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            server.watches.watch(page.id, ANA, [await server.shown(RUN)])
            del server.documents[RUN]
            await server.publish("run.changed")
            assert await server.changes(page) == [{"path": RUN, "status": 404}]
            await server.publish("run.changed")
            assert await server.changes(page) == []
            server.documents[RUN] = {"id": 1}
            await server.publish("run.changed")
            assert [change["document"] for change in await server.changes(page)] == [{"id": 1}]
            server.documents[RUN] = RuntimeError("a bug")
            await server.publish("run.changed")
            assert await server.changes(page) == [{"path": RUN, "status": 500}]

    run(work)
    assert "never retrieved" not in caplog.text


def test_a_response_that_cannot_be_kept_is_fetched_by_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            server.watches.watch(page.id, ANA, [await server.shown(RUN)])
            monkeypatch.setattr("arcadia_backend.live.documents.MAX_DOCUMENT_BYTES", 100)
            server.documents[RUN]["tags"] = ["long"] * 100
            await server.publish()
            assert await server.changes(page) == [{"path": RUN, "status": 413}]

    run(work)


def test_a_page_is_known_only_with_its_credentials() -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            assert not server.watches.watch(page.id, BEN, [])
            assert server.watches.watch(page.id, ANA, [])
        assert not server.watches.watch(page.id, ANA, [])

    run(work)


def test_a_document_that_no_page_shows_is_not_evaluated() -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            server.watches.watch(page.id, ANA, [await server.shown(RUNS), await server.shown(RUN)])
            server.watches.watch(page.id, ANA, [await server.shown(RUN)])
            await server.publish()
            await server.evaluations_end()
        await server.publish()
        await server.evaluations_end()
        assert server.evaluated == {(RUN, "ana"): 1}
        assert not server.watches._documents
        assert not server.watches._pages

    run(work)


def test_a_slow_page_gets_changes_once_it_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "PAGE_QUEUE_LENGTH", 100)

    async def work(server: Server) -> None:
        with server.watches.open(ANA) as slow, server.watches.open(ANA) as fast:
            for page in (slow, fast):
                server.watches.watch(page.id, ANA, [await server.shown(RUNS)])
            for step in range(1, 10):
                server.documents[RUNS][0]["step"] = step
                await server.publish()
                assert [change["patch"][0][2] for change in await server.changes(fast)] == [step]
            first, *later = await server.changes(slow)
            assert first["patch"] == [["set", [0, "step"], 1]]
            # It gets only the newest version.
            assert [change["patch"] for change in (*later, *await server.changes(slow))] == [[["set", [0, "step"], 9]]]

    run(work)


def test_a_page_whose_events_were_dropped_sends_its_versions_again() -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            shown = await server.shown(RUNS)
            server.watches.watch(page.id, ANA, [shown])
            server.documents[RUNS][0]["step"] = 5
            await server.publish()
            await server.evaluations_end()
            for number in range(PAGE_QUEUE_LIMIT):
                server.hub.publish("run.log", {"run_id": number})
            await server.publish("run.log", run_id=0)
            event = await page.stream.next(PATIENCE_SECONDS)
            assert event is not None
            assert event.name == REFETCH
            server.watches.watch(page.id, ANA, [shown])
            assert [change["patch"] for change in await server.changes(page)] == [[["set", [0, "step"], 5]]]

    run(work)


def test_watches_that_cross_an_event_lead_to_the_newest_version() -> None:
    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            shown = await server.shown(RUNS)
            server.watches.watch(page.id, ANA, [shown])
            server.documents[RUNS][0]["step"] = 5
            await server.publish()
            await server.evaluations_end()
            # The event is on its way when the page sends its old version.
            server.watches.watch(page.id, ANA, [shown])
            first, second = await server.changes(page)
            assert (first["from"], second["from"]) == (shown.etag, shown.etag)
            assert first["etag"] == second["etag"]
            server.watches.watch(page.id, ANA, [shown])
            server.documents[RUNS][0]["step"] = 6
            await server.publish()
            # Now either version may be that of the page, so it gets the whole document.
            assert [change["document"] for change in await server.changes(page)] == [server.documents[RUNS]]

    run(work)


def test_an_unexpected_error_is_logged_and_later_changes_are_sent(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> str:
        raise ValueError("odd")

    async def work(server: Server) -> None:
        with server.watches.open(ANA) as page:
            server.watches.watch(page.id, ANA, [await server.shown(RUNS)])
            with monkeypatch.context() as broken:
                broken.setattr(watches, "change_as_json", fail)
                server.documents[RUNS][0]["step"] = 5
                await server.publish()
                assert await server.changes(page) == []
            await server.publish()
            assert [change["patch"] for change in await server.changes(page)] == [[["set", [0, "step"], 5]]]

    run(work)
    assert "ValueError: odd" in caplog.text
