"""Log unchanged scripts in each way that a product has: `python -m bench.peers.ways --venv DIR`.

The scripts are those of bench/scripts: one in the style of CleanRL, and one of Stable-Baselines3. Afterwards the
program reads what each product has stored. With `--serve`, the products stay open for screenshots until Ctrl-C.

The peers' environment also needs the packages of the scripts: torch, gymnasium, tensorboardX and stable-baselines3.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arcadia import Client

from bench.peers.arcadia import Arcadia
from bench.peers.mlflow import MLflow
from bench.peers.product import REPOSITORY, Venv, options_parser, parse
from bench.peers.table import markdown
from bench.peers.trackio import Trackio

SCRIPTS = REPOSITORY / "bench" / "scripts"
CLEANRL = (str(SCRIPTS / "cleanrl_reinforce.py"), "--total-timesteps", "20000", "--save-model")
SB3 = (str(SCRIPTS / "sb3_ppo.py"), "--total-timesteps", "8192")
# Settings that a user compares runs by, as the scripts name them.
SETTINGS = {CLEANRL: ("seed", "learning_rate", "gamma", "env_id"), SB3: ("seed", "learning_rate", "n_steps")}

READ_MLFLOW = """
import json, sys
from mlflow import MlflowClient
client = MlflowClient(sys.argv[1])
runs = client.search_runs([each.experiment_id for each in client.search_experiments()])
print(json.dumps([{
    "config": dict(run.data.params), "metrics": list(run.data.metrics),
    "artifacts": [each.path for each in client.list_artifacts(run.info.run_id)],
} for run in runs]))
"""
READ_TRACKIO = """
import json, trackio
found = []
for project in trackio.SQLiteStorage.get_projects():
    for run, config in trackio.SQLiteStorage.get_all_run_configs(project).items():
        rows = trackio.SQLiteStorage.get_logs(project, run)
        system = trackio.SQLiteStorage.get_system_logs(project, run)
        names = sorted({name for row in [*rows, *system] for name in row})
        found.append({"config": config, "metrics": names, "artifacts": []})
print(json.dumps(found))
"""


@dataclass
class Stored:
    """What a product has stored of one run."""

    config: Mapping[str, object] = field(default_factory=dict)
    metrics: Sequence[str] = ()
    artifacts: Sequence[str] = ()


def main() -> None:
    """Log the scripts and print the table."""
    parser = options_parser("bench.peers.ways", __doc__)
    parser.add_argument("--serve", action="store_true", help="keep the products open")
    options = parse(parser)
    with tempfile.TemporaryDirectory(prefix="arcadia-ways-") as name:
        run(options, Path(name))


def run(options: argparse.Namespace, folder: Path) -> None:
    """Log with every product, and print what it has stored."""
    venv = Venv(options.venv.resolve(), folder / "home")
    arcadia, mlflow = Arcadia(folder / "arcadia"), MLflow(folder / "mlflow", venv)
    trackio = Trackio(folder / "trackio", venv)
    rows: dict[str, list[str]] = {}
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(arcadia.serve())
        for way, script, stored in ways_of_arcadia(url, folder / "scripts"):
            rows[f"Arcadia, {way}"] = describe(script, stored)
        server = stack.enter_context(mlflow.serve())
        for script in (CLEANRL, SB3):
            stored = log_with_peer(venv, "mlflow", script, READ_MLFLOW, [server], MLFLOW_TRACKING_URI=server)
            rows[f"MLflow, autolog, {Path(script[0]).stem}"] = describe(script, stored)
        for script in (CLEANRL, SB3):
            stored = log_with_peer(venv, "trackio", script, READ_TRACKIO, [], TRACKIO_DIR=str(folder / "trackio"))
            rows[f"Trackio, as wandb, {Path(script[0]).stem}"] = describe(script, stored)
        print(markdown(["settings", "environment", "method", "metrics", "system metrics", "artifacts"], rows))
        if options.serve:
            dashboard = stack.enter_context(trackio.serve())
            print(f"\nArcadia {url}\nMLflow {server}\nTrackio {dashboard}\nPress Ctrl-C to end.", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                sys.stdin.read()


def ways_of_arcadia(url: str, folder: Path) -> Iterator[tuple[str, Sequence[str], Stored]]:
    """Log both scripts in each way. Yield the way, the script and what is stored."""
    captured = ("-m", "arcadia", "run", "--", sys.executable)
    ways: list[tuple[str, Sequence[str], Sequence[str]]] = [
        ("`arcadia run`, TensorBoard", CLEANRL, (*captured, *CLEANRL)),
        ("`arcadia run`, wandb", CLEANRL, (*captured, *CLEANRL, "--logger", "wandb")),
        ("client", CLEANRL, (*CLEANRL, "--logger", "arcadia")),
        ("import of TensorBoard", CLEANRL, ("-m", "arcadia", "import-logs", "--from", "tensorboard", "runs")),
        ("`arcadia run`, SB3", SB3, (*captured, *SB3)),
        ("`arcadia run`, wandb, SB3", SB3, (*captured, *SB3, "--logger", "wandb")),
        ("callback, SB3", SB3, (*SB3, "--logger", "arcadia")),
        ("import of monitor files", SB3, ("-m", "arcadia", "import-logs", "--from", "monitor", "monitor")),
    ]
    folder.mkdir()
    environment = {**os.environ, "ARCADIA_URL": url, "ARCADIA_JOURNALS": str(folder / "journals")}
    client = Client(url)
    for way, script, arguments in ways:
        print(f"Arcadia, {way}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        logged = max(client.runs(limit=100), key=lambda each: each.id).refresh()
        found = Stored(
            {**logged.config, "environment": logged.env, "method": logged.data["method"]},
            logged.metric_names(),
            [version.reference for version in logged.artifacts()],
        )
        yield way, script, found


def log_with_peer(
    venv: Venv, tracker: str, script: Sequence[str], read: str, arguments: Sequence[str], **environment: str
) -> Stored:
    """Log a script with another product, and return what it has stored of its newest run."""
    print(f"{tracker}, {Path(script[0]).stem}", file=sys.stderr, flush=True)
    logger = ("--logger", "wandb") if tracker == "trackio" else ("--logger", "tensorboard")
    before = json.loads(venv.run("-c", read, *arguments, **environment))
    try:
        venv.run("-m", "bench.peers.with_tracker", tracker, *script, *logger, **environment)
    except RuntimeError as error:
        print(str(error).splitlines()[-1], file=sys.stderr)
    after = json.loads(venv.run("-c", read, *arguments, **environment))
    new = [each for each in after if each not in before]
    return Stored(**new[0]) if new else Stored()


def describe(script: Sequence[str], stored: Stored) -> list[str]:
    """Return the cells of a row."""
    settings = {name: stored.config[name] for name in SETTINGS[tuple(script)] if name in stored.config}
    system = [name for name in stored.metrics if name.startswith("system/") or name in ("cpu", "memory", "gpu")]
    others = [name for name in stored.metrics if name not in system and not name.startswith("_")]
    return [
        ", ".join(f"{name} {value!r}" for name, value in settings.items()) or "–",
        str(stored.config.get("environment") or "–"),
        str(stored.config.get("method") or "–"),
        str(len(others)),
        str(len(system)),
        ", ".join(stored.artifacts) or "–",
    ]


if __name__ == "__main__":
    main()
