"""Settings: their documentation, and their values as an operator writes them."""

import os
import re
from pathlib import Path

import pytest
from pydantic import ValidationError
from pydantic_settings import BaseSettings

from arcadia_backend.config import Settings
from arcadia_workers.contract.settings import NAMES, SECRETS, SecretFileError, WorkerSettings, unknown_settings

DOCUMENT = Path(__file__).parents[2] / "docs" / "settings.md"


def section(title: str) -> set[str]:
    """Return the settings in the table of a section."""
    text = DOCUMENT.read_text()
    part = re.split(r"^## ", text, flags=re.MULTILINE)
    (found,) = (each for each in part if each.startswith(f"{title}\n"))
    return set(re.findall(r"^\| `(ARCADIA_[A-Z_]+)` +\|", found, flags=re.MULTILINE))


@pytest.mark.parametrize(("title", "model"), [("Backend", Settings), ("Worker", WorkerSettings)])
def test_exactly_the_existing_settings_are_documented(title: str, model: type[BaseSettings]) -> None:
    assert section(title) == {f"ARCADIA_{name.upper()}" for name in model.model_fields}


def test_documented_numbers_are_the_defaults() -> None:
    text = DOCUMENT.read_text()
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, int | float):
            assert re.search(rf"\| `ARCADIA_{name.upper()}` +\| `{int(field.default)}` +\|", text), name


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = {"DATA_DIR": str(tmp_path), "PORT": "9001", "ALLOWED_HOSTS": "a.example, b.example,"}
    given |= {"TOKEN": "t", "OIDC_CLIENT_SECRET": "o"}
    for name, value in given.items():
        monkeypatch.setenv(f"ARCADIA_{name}", value)
    settings = Settings()
    assert (settings.port, settings.allowed_hosts) == (9001, ("a.example", "b.example"))
    assert settings.token.get_secret_value() == "t"
    assert settings.oidc_client_secret.get_secret_value() == "o"
    assert settings.resolved_database_url == f"sqlite:///{tmp_path}/arcadia.db"
    assert settings.files_dir == tmp_path / "files"


def test_an_empty_setting_has_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADIA_PORT", "")
    assert Settings().port == 8000


@pytest.mark.parametrize(("name", "value"), [("PORT", "99999"), ("LEASE_SECONDS", "0"), ("MAX_REQUEUES", "-1")])
def test_a_value_out_of_range_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"ARCADIA_{name}", value)
    with pytest.raises(ValidationError, match=name.lower()):
        Settings()


def test_trusted_proxies_are_addresses_or_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADIA_TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/24, fd00::/8")
    assert Settings().trusted_proxies == ("127.0.0.1", "10.0.0.0/24", "fd00::/8")
    for wrong in ("*", "proxy.example", "10.0.0.1/24"):
        monkeypatch.setenv("ARCADIA_TRUSTED_PROXIES", wrong)
        with pytest.raises(ValidationError, match="must be an IP address or a network"):
            Settings()


def test_exactly_the_names_of_settings_are_known() -> None:
    models = (*Settings.model_fields, *WorkerSettings.model_fields)
    files = {f"ARCADIA_{name}_FILE" for name in SECRETS}
    assert {f"ARCADIA_{name.upper()}" for name in models} | {
        "ARCADIA_BUILD",
        "ARCADIA_JOURNALS",
        "ARCADIA_MODE",
        "ARCADIA_PROJECT",
        "ARCADIA_RAY_ADDRESS",
        "ARCADIA_URL",
    } | files == NAMES


def test_a_misspelled_setting_gets_a_suggestion() -> None:
    environment = {"ARCADIA_TOKN": "secret", "ARCADIA_PORT": "1", "ARCADIA_ZZZ": "1", "ARCADIA_OLD": "", "HOME": "/"}
    reported = unknown_settings(environment)
    assert (
        reported == "ARCADIA_TOKN is not a setting of Arcadia; did you mean ARCADIA_TOKEN? "
        "ARCADIA_ZZZ is not a setting of Arcadia."
    )
    assert unknown_settings({"arcadia_token": "t", "ARCADIA_TEST_DATABASE_URL": "x"}) is None


@pytest.mark.parametrize("token", ["secret\n", " secret", "sec\nret", "   "])
@pytest.mark.parametrize("name", ["token", "worker_token"])
def test_a_token_that_is_invalid_in_a_header_is_refused(name: str, token: str) -> None:
    with pytest.raises(ValidationError, match="must not start or end with a space"):
        Settings.model_validate({name: token})


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("arcadia.example:8000", "must be an address"),
        ("ftp://arcadia.example", "must be an address"),
        ("http://", "must be an address"),
        ("http://arcadia.example:web", "must be an address"),
        ("http://arcadia.example:99999", "must be an address"),
        ("http://arcadia..example", "must be an address"),
        ("http://me:secret@arcadia.example", "must not contain a user or password"),
    ],
)
def test_an_invalid_backend_address_is_refused(url: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        WorkerSettings.model_validate({"backend_url": url, "worker_token": "t", "broker_url": "redis://x"})


def test_an_empty_token_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADIA_WORKER_TOKEN", "")
    monkeypatch.setenv("ARCADIA_BROKER_URL", "redis://x")
    with pytest.raises(ValidationError, match="worker_token"):
        WorkerSettings()


@pytest.mark.parametrize("url", ["localhost:6379", "redis://:pa#ss@host:6379/0", "redis://host:port/0", "amqp://host"])
def test_an_invalid_broker_address_is_refused_without_its_password(url: str) -> None:
    for model, others in ((Settings, {}), (WorkerSettings, {"worker_token": "t"})):
        with pytest.raises(ValidationError, match=r"such as redis://:password@host:6379/0") as refused:
            model.model_validate({"broker_url": url, **others})
        assert "pa" not in str(refused.value.errors(include_input=False)).replace("password", "")


@pytest.mark.parametrize("url", ["redis://host", "rediss://:p@host:6379/0", "redis+socket:///run/redis.sock"])
def test_every_form_of_a_redis_address_is_accepted(url: str) -> None:
    assert Settings.model_validate({"broker_url": url}).broker_url.get_secret_value() == url


def test_secrets_come_from_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    values = {"TOKEN": "t", "WORKER_TOKEN": "w", "BROKER_URL": "redis://:p@host", "DATABASE_URL": "postgresql://p@host"}
    values |= {"OIDC_CLIENT_SECRET": "o", "RAY_TOKEN": "r"}
    assert set(values) == set(SECRETS)
    for name, value in values.items():
        (tmp_path / name).write_text(f"{value}\n")
        monkeypatch.setenv(f"ARCADIA_{name}_FILE", str(tmp_path / name))
    settings, worker = Settings(), WorkerSettings()
    assert settings.database_url == values["DATABASE_URL"]
    assert settings.token.get_secret_value() == "t"
    assert settings.ray_token.get_secret_value() == "r"
    assert settings.worker_token == worker.worker_token
    assert worker.worker_token.get_secret_value() == "w"
    assert worker.broker_url.get_secret_value() == values["BROKER_URL"]
    assert unknown_settings(os.environ) is None


def test_an_argument_overrides_a_secret_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("file")
    monkeypatch.setenv("ARCADIA_TOKEN_FILE", str(tmp_path / "token"))
    assert Settings(token="argument").token.get_secret_value() == "argument"


@pytest.mark.parametrize(
    ("content", "environment", "message"),
    [
        (None, {}, r"ARCADIA_TOKEN_FILE: cannot read .*token: No such file"),
        (b"\n", {}, r"ARCADIA_TOKEN_FILE: .*token is empty"),
        (b"\xff\xfe", {}, r"ARCADIA_TOKEN_FILE: cannot read .*token: it is not text"),
        (b"t", {"ARCADIA_TOKEN": "t"}, r"ARCADIA_TOKEN and ARCADIA_TOKEN_FILE are both set"),
    ],
)
def test_an_invalid_secret_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None, environment: dict[str, str], message: str
) -> None:
    if content is not None:
        (tmp_path / "token").write_bytes(content)
    for name, value in {"ARCADIA_TOKEN_FILE": str(tmp_path / "token"), **environment}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SecretFileError, match=message):
        Settings()
