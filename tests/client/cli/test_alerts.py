"""`arcadia alerts`: list alerts and manage channels, against a backend."""

import json

import pytest

from tests.client.cli.conftest import Arcadia
from tests.factories import Api


def test_alerts_are_listed_and_marked_as_read(arcadia: Arcadia, api: Api) -> None:
    run_id, attempt = api.running(name="Cart for alerts")
    api.release(run_id, attempt, "failed", message="The ROM is missing.")
    (alert,) = json.loads(arcadia("alerts", "--unread", "--kind", "run_failed", "--limit", "1", "--json").out)
    assert (alert["title"], alert["run_id"]) == ("Cart for alerts failed", run_id)
    line = next(
        line for line in arcadia("alerts", "--read", "--limit", "1000").out.splitlines() if "Cart for alerts" in line
    )
    assert f"run {run_id}" in line
    # The backend may raise another kind at any time, for example when its disk is almost full.
    assert arcadia("alerts", "--unread", "--kind", "run_failed").err == "There are no alerts.\n"


@pytest.mark.nightly
def test_a_webhook_is_added_tested_and_removed(arcadia: Arcadia) -> None:
    url = "https://example.org/secret-path"
    added = arcadia("alerts", "add-webhook", url, "--name", "team", "--kind", "run_failed").out
    number = added.split()[2]
    assert added.startswith(f"Added channel {number} team.\nSecret: ")
    listed = arcadia("alerts", "channels").out
    assert "https://example.org/" in listed
    assert "secret-path" not in listed
    (channel,) = json.loads(arcadia("alerts", "channels", "--json").out)
    assert (channel["name"], channel["kinds"], channel["enabled"]) == ("team", ["run_failed"], True)
    delivery = arcadia("alerts", "test", number).out.split()[4].rstrip(".")
    (sent,) = json.loads(arcadia("alerts", "deliveries", "--channel", number, "--json").out)
    assert (sent["id"], sent["title"]) == (int(delivery), "Test of Arcadia's alerts")
    assert "DELIVERY" in arcadia("alerts", "deliveries").out
    assert arcadia("alerts", "redeliver", delivery).out == f"Delivery {delivery} is sent again.\n"
    assert arcadia("alerts", "remove", number).status == 2, "it needs a confirmation"
    assert arcadia("alerts", "remove", number, "--yes").out == f"Removed channel {number}.\n"
    assert f"There is no channel {number}." in arcadia("alerts", "test", number).err


def test_a_wrong_address_and_a_wrong_kind_are_named(arcadia: Arcadia) -> None:
    assert "url: must be an address such as" in arcadia("alerts", "add-webhook", "ftp://example.org").err
    assert "kind" in arcadia("alerts", "--kind", "nothing").err
