"""The run table in the browser: filters, groups, columns, sorting, density, editing and failures."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.factories import CARTPOLE, Api, metrics
from tests.installation import Installation

NO_GPU = "device is cuda, but this machine has no GPU that torch can use: choose auto or cpu"
# Learning rate, seed, and the returns of episodes.
RUNS = [(0.001, 1, [10.0]), (0.001, 2, [20.0]), (0.01, 1, [5.0]), (0.01, 2, [7.0])]

# Returns by how many pixels the thumbnail of each row leaves it.
THUMBNAIL_OVERFLOWS = """() => [...document.querySelectorAll('tbody tr')].flatMap(row => {
    const inner = row.querySelector('[class*=poster]')?.getBoundingClientRect(), outer = row.getBoundingClientRect();
    return inner ? [Math.max(outer.top - inner.top, inner.bottom - outer.bottom)] : [];
})"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("table")) as installation:
        yield installation


@pytest.fixture(scope="module")
def api(installation: Installation) -> Iterator[Api]:
    """Yield an API client of an installation with four finished runs: two learning rates with two seeds each."""
    with open_api(installation) as api:
        for rate, seed, returns in RUNS:
            config = {**CARTPOLE, "learning_rate": rate, "seed": seed}
            run_id, attempt = api.running(name=f"rate {rate} seed {seed}", config=config)
            assert api.send(run_id, attempt, metrics(2, 500, returns=returns)).is_success
            assert api.release(run_id, attempt, "finished").is_success
        yield api


def expect_names(page: Page, *expected: str) -> None:
    """Wait until the table has exactly these runs."""
    expect(page.locator("tbody a")).to_have_text(list(expected))


@pytest.mark.usefixtures("api")
def test_a_typed_filter_is_completed_marked_and_applied(page: Page) -> None:
    page.goto("/")
    field = page.get_by_role("textbox", name="Filter expression")
    field.press_sequentially("learning_ra")
    page.get_by_role("option", name=re.compile("^learning_rate Learning rate")).click()
    expect(field).to_have_value("learning_rate ")
    field.press_sequentially("= 1e-3 and retrn > 15")
    expect(page.get_by_role("alert").filter(has_text="retrn")).to_be_visible()
    expect(page.locator("mark")).to_have_text("retrn")
    field.fill("learning_rate = 1e-3 and return > 15")
    expect(page.get_by_role("alert").filter(has_text="retrn")).to_have_count(0)
    field.press("Enter")
    expect_names(page, "rate 0.001 seed 2")
    page.reload()
    expect_names(page, "rate 0.001 seed 2")
    page.get_by_role("button", name="Clear all").click()
    expect(page.locator("tbody a")).to_have_count(4)


@pytest.mark.nightly
@pytest.mark.usefixtures("api")
def test_runs_are_grouped_by_a_setting_and_expanded(page: Page) -> None:
    page.goto("/")
    page.get_by_role("combobox", name="Group runs by").click()
    page.get_by_role("option", name="Learning rate").click()
    page.keyboard.press("Escape")
    group = page.get_by_label("Groups of runs").get_by_role("row").filter(has_text="0.001")
    expect(group).to_contain_text("15 (SD 7.07)")
    group.get_by_role("button", name=re.compile("^Open")).click()
    expect(page.get_by_role("link", name="rate 0.001 seed 2")).to_be_visible()
    expect(page).to_have_url(re.compile("by=learning_rate"))


@pytest.mark.usefixtures("api")
def test_columns_are_automatic_searched_computed_and_kept(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("columnheader", name="Learning rate")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Seed")).to_be_visible()
    page.get_by_role("button", name="Choose columns").click()
    page.get_by_role("searchbox", name="Search columns").fill("discount")
    page.get_by_role("checkbox", name="Discount").check()
    page.get_by_role("searchbox", name="Search columns").fill("seed")
    page.get_by_role("checkbox", name="Seed", exact=True).uncheck()

    page.get_by_role("button", name="Computed column").click()
    expression = page.get_by_role("textbox", name="Expression", exact=True)
    expression.fill("best_retrn * 2")
    expect(page.locator("mark")).to_have_text("best_retrn")
    expect(page.get_by_role("button", name="Add column")).to_be_disabled()
    expression.fill("best_return * 2")
    page.get_by_label("Title").fill("Double")
    page.get_by_role("button", name="Add column").click()
    page.keyboard.press("Escape")

    page.reload()
    headers = page.get_by_role("columnheader")
    expect(headers.filter(has_text="Discount")).to_have_count(1)
    expect(headers.filter(has_text="Seed")).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text="rate 0.001 seed 2")).to_contain_text("40")
    page.get_by_role("columnheader", name="Double").get_by_role("button", name="Double", exact=True).click()
    expect_names(page, "rate 0.001 seed 2", "rate 0.001 seed 1", "rate 0.01 seed 2", "rate 0.01 seed 1")


@pytest.mark.nightly
@pytest.mark.usefixtures("api")
def test_the_order_has_several_keys_from_the_mouse_and_the_keyboard(page: Page) -> None:
    page.goto("/?columns=name,config.learning_rate,last_return")
    page.get_by_role("button", name="Learning rate", exact=True).click()
    expect(page.get_by_role("columnheader", name="Learning rate")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="Last return", exact=True).focus()
    page.keyboard.press("Shift+Enter")
    expect_names(page, "rate 0.01 seed 2", "rate 0.01 seed 1", "rate 0.001 seed 2", "rate 0.001 seed 1")
    page.get_by_role("button", name="Last return 2").click(modifiers=["Shift"])
    expect_names(page, "rate 0.01 seed 1", "rate 0.01 seed 2", "rate 0.001 seed 1", "rate 0.001 seed 2")
    expect(page.get_by_role("columnheader", name="Last return")).to_have_attribute("aria-sort", "ascending")
    expect(page).to_have_url(re.compile("sort=-config%3Alearning_rate%2Clast_return"))


def test_a_run_is_edited_in_its_row(page: Page, api: Api) -> None:
    run = api.launch(name="unnamed", tags=["old"])
    page.goto("/?sort=-id")
    expect(page.get_by_role("link", name="unnamed")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="unnamed")).to_be_focused()
    page.keyboard.press("F2")
    form = page.get_by_role("dialog", name="Edit unnamed")
    form.get_by_label("Name").fill(" ")
    page.keyboard.press("Enter")
    expect(form.get_by_text("Enter a name.")).to_be_visible()
    form.get_by_label("Name").fill("Best of all")
    form.get_by_role("combobox", name="Tags").press_sequentially("good")
    page.keyboard.press("Enter")
    form.get_by_label("Notes").fill("Learns quickly.")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="Best of all")).to_be_focused()
    saved = api.run(run["id"])
    assert (saved["name"], saved["tags"], saved["notes"]) == ("Best of all", ["good", "old"], "Learns quickly.")
    api.act(run["id"], "stop")


@pytest.mark.nightly
def test_compact_rows_show_more_runs_and_the_keys_move_through_all(page: Page, api: Api) -> None:
    runs = [api.launch(name=f"many {number}", tags=["many"]) for number in range(150)]
    try:
        page.goto("/?tag=many&sort=id")
        page.get_by_role("button", name="Dismiss notice").click()
        page.get_by_role("button", name="Compact rows").click()
        expect(page.get_by_role("link", name="many 0", exact=True)).to_be_visible()
        heights = page.locator("tbody tr:not([aria-hidden])").evaluate_all("rows => rows.map(row => row.offsetHeight)")
        assert max(heights) <= 33
        visible = page.locator("tbody a").evaluate_all(
            "links => links.filter(link => link.getBoundingClientRect().bottom < innerHeight).length"
        )
        assert visible >= 20
        page.keyboard.press("j")
        expect(page.get_by_role("link", name="many 0", exact=True)).to_be_focused()
        for _ in range(99):
            page.keyboard.press("j")
        expect(page.get_by_role("link", name="many 99", exact=True)).to_be_focused()
        # The next page has been loaded.
        expect(page.get_by_role("link", name="many 100", exact=True)).to_be_visible()
        for _ in range(21):
            page.keyboard.press("j")
        expect(page.get_by_role("link", name="many 120", exact=True)).to_be_focused()
        page.keyboard.press("x")
        expect(page.get_by_text("1 run selected")).to_be_visible()
        page.keyboard.press("k")
        expect(page.get_by_role("link", name="many 119", exact=True)).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="many 119")).to_be_visible()
    finally:
        api.bulk("stop", [run["id"] for run in runs])


@pytest.mark.nightly
@pytest.mark.usefixtures("api")
def test_thumbnails_are_inside_their_rows(page: Page) -> None:
    page.goto("/?filter=state+%3D+finished")
    expect(page.locator("tbody a")).to_have_count(4)
    usual = page.evaluate(THUMBNAIL_OVERFLOWS)
    page.get_by_role("button", name="Compact rows", pressed=False).click()
    expect(page.get_by_role("button", name="Compact rows", pressed=True)).to_be_visible()
    compact = page.evaluate(THUMBNAIL_OVERFLOWS)
    assert (len(usual), len(compact)) == (4, 4)
    assert max(*usual, *compact) <= 0


@pytest.mark.nightly
def test_runs_with_the_same_failure_are_launched_again_with_the_fix(page: Page, api: Api) -> None:
    for _ in range(3):
        run_id, attempt = api.running(name="needs a GPU", config={**CARTPOLE, "device": "cuda"}, queue="cpu")
        assert api.send(run_id, attempt, metrics(2, 500, returns=[1.0])).is_success
        assert api.release(run_id, attempt, "failed", message=NO_GPU).is_success
    page.goto("/")
    notice = page.get_by_role("group", name="Runs with the same failure")
    expect(notice).to_contain_text(f"3 runs failed: {NO_GPU}")
    notice.get_by_role("button", name="Launch 3 again with device auto").click()
    page.get_by_role("dialog").get_by_role("button", name="Launch again").click()
    expect(page.get_by_text("Launched 3 runs.")).to_be_visible()
    queued = api.user.get("/api/v1/runs", params={"state": "queued", "include": "config.device"}).json()["items"]
    assert [run["config"]["device"] for run in queued] == ["auto"] * 3


@pytest.mark.nightly
@pytest.mark.usefixtures("api")
@pytest.mark.parametrize(
    ("path", "width"),
    [
        ("/?charts=episode/return", 1440),
        ("/?charts=", 1440),
        ("/?charts=", 900),
        ("/?by=learning_rate&charts=episode/return", 1440),
        ("/?by=learning_rate&charts=", 390),
    ],
)
def test_the_header_stays_visible_while_the_table_scrolls(page: Page, path: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 220})
    page.goto(path)
    table = page.get_by_role("table", name=re.compile("^(Runs|Groups of runs)$"))
    expect(table.get_by_role("row").nth(2)).to_be_visible()
    # The top of the table is now behind the bar of the page, which is 56 pixels high.
    table.evaluate("table => window.scrollBy(0, table.getBoundingClientRect().top - 30)")
    page.wait_for_function(
        """() => {
            const header = document.querySelector("[role=table] th:nth-of-type(2)");
            const { x, y, width, height } = header.getBoundingClientRect();
            const frame = header.closest("[role=table]").getBoundingClientRect();
            const seen = document.elementFromPoint(x + width / 2, y + height / 2);
            return frame.top < 56 && y >= 56 && header.contains(seen);
        }"""
    )


@pytest.mark.nightly
@pytest.mark.usefixtures("api")
def test_the_header_follows_the_columns_sideways(page: Page) -> None:
    page.set_viewport_size({"width": 900, "height": 600})
    page.goto("/?charts=")
    table = page.get_by_role("table", name="Runs")
    header = table.get_by_role("columnheader", name="Best return")
    cell = table.get_by_role("row").nth(1).get_by_role("cell").nth(6)
    expect(cell).to_be_visible()
    cell.evaluate("cell => { cell.closest('table').parentElement.scrollLeft = 120 }")
    page.wait_for_function(
        "([one, other]) => Math.abs(one.getBoundingClientRect().left - other.getBoundingClientRect().left) < 1",
        arg=[header.element_handle(), cell.element_handle()],
    )


@pytest.mark.nightly
@pytest.mark.usefixtures("api")
def test_typing_in_a_popover_runs_no_shortcut(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Choose columns").click()
    page.get_by_role("button", name="Computed column").click()
    expect(page.get_by_role("textbox", name="Expression", exact=True)).to_be_focused()
    page.keyboard.type("n")
    expect(page.get_by_role("textbox", name="Expression", exact=True)).to_have_value("n")
    # Without a focused field, the popover still keeps the keys.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.type("n")
    expect(page.get_by_role("textbox", name="Expression", exact=True)).to_be_visible()
    assert page.url.endswith("/")


@pytest.mark.nightly
@pytest.mark.usefixtures("api")
def test_the_wrong_word_of_a_long_filter_is_marked_where_it_is(page: Page) -> None:
    page.goto("/")
    field = page.get_by_role("textbox", name="Filter expression")
    field.fill("learning_rate = 1e-3 and seed = 1 and gamma = 0.99 and best_return > 1 and last_return > 1 and retrn ")
    field.press("End")
    field.press_sequentially("> 15")
    mark = page.locator("mark")
    expect(mark).to_have_text("retrn")
    page.wait_for_function(
        """([mark, field]) => {
            const [inner, outer] = [mark, field].map((element) => element.getBoundingClientRect());
            return field.scrollLeft > 0 && inner.right < outer.right && inner.left > outer.left;
        }""",
        arg=[mark.element_handle(), field.element_handle()],
    )


@pytest.mark.nightly
@pytest.mark.usefixtures("api")
def test_the_address_runs_opens_the_table_with_its_filters(page: Page) -> None:
    page.goto("/runs?filter=seed+%3D+2")
    expect_names(page, "rate 0.01 seed 2", "rate 0.001 seed 2")
    expect(page).to_have_url(re.compile(r"/\?filter=seed"))
    page.goto("/checkpoints")
    expect(page.get_by_text("Checkpoints are in the tab")).to_be_visible()


@pytest.mark.usefixtures("api")
def test_all_matching_runs_are_tagged(page: Page) -> None:
    page.goto("/?filter=seed+%3D+2")
    page.get_by_role("checkbox", name="Select all runs").check()
    page.get_by_role("button", name="Tag 2").click()
    field = page.get_by_role("combobox", name="Tags")
    expect(field).to_be_focused()
    page.keyboard.type("night")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add tags").click()
    expect(page.get_by_text("2 runs tagged.")).to_be_visible()
    page.goto("/?filter=tag:night")
    expect_names(page, "rate 0.01 seed 2", "rate 0.001 seed 2")


@pytest.mark.nightly
def test_all_runs_of_a_long_list_are_stopped_even_if_the_backend_is_killed(
    page: Page, api: Api, installation: Installation
) -> None:
    count = 130
    # The console of the other page may have no errors, but requests fail while the backend is down.
    tab = page.context.new_page()
    for number in range(count):
        api.launch(name=f"long {number}", tags=["long"])
    tab.goto("/?tag=long&sort=id")
    expect(tab.get_by_role("link", name="long 0", exact=True)).to_be_visible()
    tab.get_by_role("checkbox", name="Select all runs").check()
    expect(tab.get_by_text(f"All {count} runs selected")).to_be_visible()
    tab.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    expect(tab.get_by_role("link", name=f"long {count - 1}", exact=True)).to_be_visible()
    expect(tab.get_by_role("row", name="long 0", exact=True)).to_have_count(0)
    tab.get_by_role("checkbox", name=f"Select long {count - 1}", exact=True).uncheck()
    tab.get_by_role("button", name=f"Stop {count - 1}").click()
    dialog = tab.get_by_role("dialog", name=f"Stop {count - 1} runs?")
    with tab.expect_response("**/bulk-actions*"):
        dialog.get_by_role("button", name=f"Stop {count - 1} runs").click()
    installation.backend.end()
    installation.start()
    expect(tab.get_by_text(f"{count - 1} runs stopping.")).to_be_visible()
    states = api.user.get("/api/v1/run-facets", params={"filter": "tag:long"}).json()["state"]
    assert states == [{"value": "queued", "runs": 1}, {"value": "stopped", "runs": count - 1}]
