"""Run a script with a tracker, without a change: `python -m bench.peers.with_tracker TRACKER SCRIPT ARGUMENTS…`.

With `mlflow`, autologging and system metrics are on. With `trackio`, the script gets it as `wandb`, as its
documentation recommends.
"""

import argparse
import runpy
import sys


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers.with_tracker", description=__doc__)
    parser.add_argument("tracker", choices=["mlflow", "trackio"])
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    script = chosen.script
    sys.argv = [script, *chosen.arguments]
    if chosen.tracker == "mlflow":
        import mlflow  # type: ignore[import-not-found]

        mlflow.enable_system_metrics_logging()
        mlflow.autolog()
        with mlflow.start_run():
            runpy.run_path(script, run_name="__main__")
    else:
        import trackio  # type: ignore[import-not-found]

        sys.modules["wandb"] = trackio
        runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
