"""The limit of wrong tokens per address."""

import pytest

from arcadia_backend.web import security
from arcadia_backend.web.security import MAX_WRONG_TOKENS, TooManyWrongTokens, WrongTokenLimit


def test_each_address_has_a_limit_and_an_ipv6_network_counts_as_one() -> None:
    limit = WrongTokenLimit(clock=lambda: 0.0)
    for number in range(MAX_WRONG_TOKENS):
        limit.count(f"2001:db8::{number}", f"guess {number}")
    with pytest.raises(TooManyWrongTokens):
        limit.count("2001:db8::ffff", "another")
    limit.count("192.0.2.1", "another")


def test_a_repeated_token_counts_once_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    limit = WrongTokenLimit(clock=lambda: 0.0)
    for _ in range(100):
        limit.count("192.0.2.1", "old")
    for number in range(MAX_WRONG_TOKENS - 1):
        limit.count("192.0.2.1", f"guess {number}")
    with pytest.raises(TooManyWrongTokens):
        limit.count("192.0.2.1", "another")
    limit.count("192.0.2.1", "old")
    assert len(caplog.messages) == MAX_WRONG_TOKENS
    assert "guess" not in caplog.text


def test_a_wrong_token_counts_for_a_minute() -> None:
    now = 0.0
    limit = WrongTokenLimit(clock=lambda: now)
    for number in range(MAX_WRONG_TOKENS):
        now = float(number)
        limit.count("192.0.2.1", f"guess {number}")
    with pytest.raises(TooManyWrongTokens, match=r"in 51 s\.") as refused:
        limit.count("192.0.2.1", "another")
    assert refused.value.headers == {"Retry-After": "51"}
    now = 60.0
    limit.count("192.0.2.1", "another")
    with pytest.raises(TooManyWrongTokens):
        limit.count("192.0.2.1", "one more")


def test_the_number_of_remembered_addresses_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "MAX_ADDRESSES", 2)
    limit = WrongTokenLimit(clock=lambda: 0.0)
    for address in ("a", "b", "c"):
        for number in range(MAX_WRONG_TOKENS):
            limit.count(address, f"guess {number}")
    limit.count("a", "another")
    with pytest.raises(TooManyWrongTokens):
        limit.count("c", "another")
