"""The limit of wrong tokens per address."""

import pytest

from backend.web import rate_limit
from backend.web.rate_limit import MAX_WRONG_TOKENS, TooManyWrongTokens, WrongTokenLimit


def test_each_address_has_a_limit_and_an_ipv6_network_counts_as_one() -> None:
    wrong = WrongTokenLimit(clock=lambda: 0.0)
    for number in range(MAX_WRONG_TOKENS):
        assert not wrong.check(f"2001:db8::{number}", right=False)
    with pytest.raises(TooManyWrongTokens):
        wrong.check("2001:db8::ffff", right=True)
    assert wrong.check("192.0.2.1", right=True)


def test_a_wrong_token_counts_for_a_minute() -> None:
    now = 0.0
    wrong = WrongTokenLimit(clock=lambda: now)
    for number in range(MAX_WRONG_TOKENS):
        now = float(number)
        wrong.check("192.0.2.1", right=False)
    with pytest.raises(TooManyWrongTokens, match=r"in 51 s\.") as refused:
        wrong.check("192.0.2.1", right=False)
    assert refused.value.headers == {"Retry-After": "51"}
    now = 60.0
    assert not wrong.check("192.0.2.1", right=False)
    with pytest.raises(TooManyWrongTokens):
        wrong.check("192.0.2.1", right=False)


def test_the_number_of_remembered_addresses_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MAX_ADDRESSES", 2)
    wrong = WrongTokenLimit(clock=lambda: 0.0)
    for address in ("a", "b", "c"):
        for _ in range(MAX_WRONG_TOKENS):
            wrong.check(address, right=False)
    assert wrong.check("a", right=True)
    with pytest.raises(TooManyWrongTokens):
        wrong.check("c", right=True)
