"""The program `arcadia service`: starts a worker, or the server, with the host by systemd."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from arcadia_workers.contract.layout import config_dir

SYSTEM_UNITS = Path("/etc/systemd/system")
# The worker's own grace for its trainers is 30 seconds, and it delivers their last events afterwards.
STOP_SECONDS = 90
UNIT = """[Unit]
Description=Arcadia {what}
Wants=network-online.target
After=network-online.target

[Service]
ExecStart={command}
{environment}Restart=always
RestartSec=5
# Trainers end with the worker, which lets them save first.
KillMode=mixed
TimeoutStopSec={stop_seconds}

[Install]
WantedBy={target}
"""


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    text = "Start a worker, or the server, with this host by systemd. Root installs it for the host, others for them."
    parser = argparse.ArgumentParser(prog="arcadia service", description=text)
    parser.add_argument("action", choices=("install", "status", "uninstall"))
    parser.add_argument("--server", action="store_true", help="the server instead of a worker")
    parser.add_argument("--environment-file", type=Path, metavar="FILE", help="file with ARCADIA_… variables")
    parser.add_argument("--units", type=Path, metavar="DIR", help="folder of the unit (default: that of systemd)")
    parser.epilog = "Options of the worker or the server follow after --."
    given = list(sys.argv[1:] if arguments is None else arguments)
    end = given.index("--") if "--" in given else len(given)
    return parser.parse_args(given[:end], argparse.Namespace(options=given[end + 1 :]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Install, show or remove the service. Return the exit status."""
    options = parse_arguments(arguments)
    what = "server" if options.server else "worker"
    is_root = os.geteuid() == 0
    folder = options.units or (SYSTEM_UNITS if is_root else config_dir() / "systemd" / "user")
    unit = folder / f"arcadia-{what}.service"
    systemctl = ["systemctl", *([] if is_root else ["--user"])]
    if options.action == "install":
        return _install(unit, what, options, systemctl, is_root=is_root)
    if not unit.exists():
        print(f"arcadia service: there is no {unit}. Install it with: arcadia service install", file=sys.stderr)
        return 1
    if options.action == "status":
        return _run([*systemctl, "status", "--no-pager", unit.name])
    status = _run([*systemctl, "disable", "--now", unit.name])
    unit.unlink()
    print(f"Removed {unit}.")
    return status or _run([*systemctl, "daemon-reload"])


def _install(unit: Path, what: str, options: argparse.Namespace, systemctl: Sequence[str], *, is_root: bool) -> int:
    """Write the unit and start it."""
    file = options.environment_file
    if file is not None and not file.is_file():
        print(f"arcadia service: there is no file {file}", file=sys.stderr)
        return 1
    command = [sys.executable, "-m", "arcadia_backend.cli", "up" if options.server else "worker", *options.options]
    text = UNIT.format(
        what=what,
        command=shlex.join(command).replace("%", "%%"),
        environment=f"EnvironmentFile={file.resolve()}\n" if file else "",
        stop_seconds=STOP_SECONDS,
        target="multi-user.target" if is_root else "default.target",
    )
    try:
        unit.parent.mkdir(parents=True, exist_ok=True)
        unit.write_text(text)
    except OSError as error:
        print(f"arcadia service: cannot write {unit}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"Wrote {unit}.")
    status = _run([*systemctl, "daemon-reload"]) or _run([*systemctl, "enable", "--now", unit.name])
    if status == 0:
        log = f"journalctl {'' if is_root else '--user '}-u {unit.stem}"
        print(f"The {what} runs, and starts with this host. Its log: {log}")
        if not is_root:
            print("To start it without a login of this user: loginctl enable-linger")
    return status


def _run(command: Sequence[str]) -> int:
    """Run a command of systemd. Say what to do on a host without it."""
    if shutil.which(command[0]) is None:
        print("This host has no systemd, so nothing was started. The ExecStart line is the command to start at boot.")
        return 1
    print(f"Running: {shlex.join(command)}")
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
