"""docker-compose.yml and the Dockerfile: hardening of every service, limits, health checks and secrets."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from arcadia_workers.contract.settings import NAMES, PREFIX, SECRETS

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
IMAGES = [name for name, service in SERVICES.items() if "build" in service]

every_service = pytest.mark.parametrize("name", SERVICES)


def stage(name: str) -> str:
    """Return one stage of the Dockerfile."""
    (found,) = re.findall(rf"^FROM \S+ AS {name}\n(.*?)(?=^FROM |\Z)", DOCKERFILE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_services_are_known() -> None:
    assert set(SERVICES) == {"postgres", "redis", "backend", "worker", "worker-gpu"}


@every_service
def test_a_service_has_no_privileges(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"cap_add", "privileged", "network_mode", "pid", "ipc", "userns_mode"} & set(service)
    user = service.get("user") or re.findall(r"^USER (\S+)", stage(service["build"]["target"]), re.MULTILINE)[-1]
    assert user.split(":")[0] not in ("", "0", "root")


@every_service
def test_a_service_has_limits_and_rotates_its_log(name: str) -> None:
    service = SERVICES[name]
    assert re.fullmatch(r"\$\{[A-Z]+_MEMORY:-\d+[gm]\}", service["mem_limit"])
    assert 0 < service["pids_limit"] <= 4096
    assert service["logging"] == {"driver": "json-file", "options": {"max-size": "10m", "max-file": "5"}}
    assert service["restart"] == "unless-stopped"
    assert service["init"] is True


@every_service
def test_a_service_has_a_health_check(name: str) -> None:
    service = SERVICES[name]
    assert "healthcheck" in service or "HEALTHCHECK" in stage(service["build"]["target"])


@every_service
def test_only_loopback_reaches_a_published_port(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        assert port.startswith("127.0.0.1:")


@every_service
def test_no_secret_is_in_the_environment(name: str) -> None:
    service = SERVICES[name]
    environment = service.get("environment", {})
    for variable, value in environment.items():
        if variable.endswith("_FILE"):
            assert value.removeprefix("/run/secrets/") in service["secrets"]
        else:
            assert variable.removeprefix(PREFIX) not in SECRETS
            assert "PASSWORD" not in variable
            assert "PASSWORD" not in str(value)
    assert {variable for variable in environment if variable.startswith(PREFIX)} <= NAMES


def test_every_secret_is_a_file_that_the_script_writes(tmp_path: Path) -> None:
    files = secrets_of(tmp_path)
    declared = {name: secret["file"] for name, secret in COMPOSE["secrets"].items() if name != "ca"}
    assert {f"secrets/{name}" for name in files} == set(declared.values())
    used = {name for service in SERVICES.values() for name in service.get("secrets", [])}
    assert used == set(declared)


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_takes_options_and_certificates(name: str) -> None:
    build = SERVICES[name]["build"]
    assert build["secrets"] == ["ca"]
    assert {"PIP_OPTIONS", "NPM_OPTIONS", "PYTHON_IMAGE", "NODE_IMAGE"} <= set(build["args"])
    assert set(build["args"]) <= set(re.findall(r"^ARG (\w+)", DOCKERFILE, re.MULTILINE))


@pytest.mark.parametrize("command", [r"bin/pip install \$\{PIP_OPTIONS\}", r"npm ci --omit=dev \$\{NPM_OPTIONS\}"])
def test_downloads_of_the_build_trust_the_certificates(command: str) -> None:
    runs = re.findall(r"^RUN (?:.*\\\n)*.*\n", DOCKERFILE, re.MULTILINE)
    downloads = [run for run in runs if re.search(command, run)]
    assert downloads
    assert all("--mount=type=secret,id=ca,target=/run/ca.pem" in run for run in downloads)


def test_the_gpu_worker_needs_its_profile_and_a_gpu() -> None:
    gpu = SERVICES["worker-gpu"]
    assert gpu["profiles"] == ["gpu"]
    assert gpu["build"]["args"]["TORCH"] == "cuda"
    assert gpu["command"] == ["worker", "--queue", "gpu"]
    (device,) = gpu["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])
    assert gpu["image"] != SERVICES["worker"]["image"]


def test_a_worker_can_be_scaled() -> None:
    for name in ("worker", "worker-gpu"):
        assert not {"container_name", "hostname", "ports"} & set(SERVICES[name])
        assert "--name" not in SERVICES[name].get("command", [])
    assert "--name" not in stage("worker")


def test_the_example_names_only_options_that_the_file_reads() -> None:
    example = re.findall(r"^([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    read = set(re.findall(r"\$\{([A-Z_]+)", (ROOT / "docker-compose.yml").read_text()))
    assert set(example) <= read
    document = (ROOT / "docs" / "docker.md").read_text()
    assert {name for name in read if f"`{name}`" not in document} == set()


def secrets_of(folder: Path) -> dict[str, str]:
    """Run setup/secrets in a copy of its folder and return what it wrote."""
    (folder / "setup").mkdir(exist_ok=True)
    shutil.copy(ROOT / "setup" / "secrets", folder / "setup")
    subprocess.run([folder / "setup" / "secrets"], cwd="/", check=True, capture_output=True)
    return {file.name: file.read_text() for file in (folder / "secrets").iterdir()}


def test_the_script_writes_random_secrets_once(tmp_path: Path) -> None:
    first = secrets_of(tmp_path)
    assert len(set(first.values())) == len(first)
    for name in ("token", "worker_token", "postgres_password", "redis_password"):
        assert re.fullmatch(r"[0-9a-f]{48}", first[name])
    assert first["database_url"] == f"postgresql+psycopg://arcadia:{first['postgres_password']}@postgres/arcadia"
    assert first["broker_url"] == f"redis://:{first['redis_password']}@redis:6379/0"
    (tmp_path / "secrets" / "token").unlink()
    second = secrets_of(tmp_path)
    assert first["token"] != second["token"]
    assert {name for name in first if first[name] != second[name]} == {"token"}


def test_only_the_owner_enters_the_folder_and_containers_read_the_files(tmp_path: Path) -> None:
    secrets_of(tmp_path)
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    modes = {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "secrets").iterdir()}
    assert modes == {0o644}
    assert os.access(ROOT / "setup" / "secrets", os.X_OK)


def test_the_script_takes_secrets_of_an_earlier_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("ARCADIA_TOKEN=old-token\nPOSTGRES_PASSWORD=old-password\nREDIS_PASSWORD=\n")
    found = secrets_of(tmp_path)
    assert found["token"] == "old-token"
    assert found["database_url"].startswith("postgresql+psycopg://arcadia:old-password@")
    assert len(found["redis_password"]) == 48
