"""The launch form in the browser: environment, method, settings, pasted text and launch."""

import re

from playwright.sync_api import Page, expect

from tests.installation import Installation


def test_settings_are_chosen_reset_pasted_and_launched(page: Page, installation: Installation) -> None:
    page.goto("/launch")
    page.get_by_role("searchbox", name="Search environments").fill("CartPole")
    page.get_by_role("searchbox", name="Search environments").press("Enter")
    page.get_by_role("radio", name=re.compile("^PAAC Parallel")).check(force=True)
    summary = page.get_by_role("region", name="Summary")
    expect(summary).to_contain_text("PAAC on CartPole")
    expect(summary.get_by_role("region", name="Requirements")).to_contain_text("A CPU worker is free")

    rate = page.get_by_role("textbox", name=re.compile("learning_rate$"))
    before = rate.input_value()
    rate.fill("0.5")
    expect(page.get_by_text(f"Changed from {before}")).to_be_visible()
    page.get_by_role("button", name="Reset Learning rate", exact=True).click()
    expect(rate).to_have_value(before)
    expect(summary).to_contain_text("Unchanged from")

    page.get_by_role("searchbox", name="Search settings").fill("discount")
    expect(page.get_by_role("textbox", name=re.compile("gamma$"))).to_be_visible()

    page.get_by_role("button", name="Paste or copy settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Settings").fill("total_steps: lots")
    dialog.get_by_role("button", name="Check settings").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Line 1, total_steps")
    dialog.get_by_role("textbox", name="Settings").fill("total_steps: 2_000\ngamma: 9e-1\nspeed: 3\n")
    dialog.get_by_role("button", name="Check settings").click()
    expect(dialog).to_contain_text("Line 3, speed: PAAC has no such setting.")
    dialog.get_by_role("button", name="Apply 2 settings").click()
    expect(page.get_by_role("textbox", name=re.compile("total_steps$"))).to_have_value("2000")

    page.get_by_role("button", name="Launch run", exact=True).last.click()
    page.wait_for_url(re.compile(r"/runs/\d+"))
    run = int(page.url.split("/runs/")[1].split("?")[0])
    config = installation.run(run)["config"]
    assert (config["total_steps"], config["gamma"]) == (2_000, 0.9)

    page.goto(f"/launch?like={run}")
    expect(summary).to_contain_text(f"Unchanged from “run {run}”")
    expect(page.get_by_role("textbox", name=re.compile("total_steps$"))).to_have_value("2000")
