"""Measure PAAC and GA3C on a GPU with growing numbers of environments: `python -m bench.gpu`."""

import argparse
import json
import subprocess
import sys

from arcadia_workers.contract.config import Ga3cConfig, PaacConfig, RunConfig, config_adapter
from arcadia_workers.trainer.host import devices
from bench.rates import ceiling, of_method

METHODS = ("paac", "ga3c")
COUNTS = (32, 64, 128, 256, 512, 1024)
PAAC_NETWORKS: tuple[str, ...] = ("nips", "nature")
# GA3C, table 2.
GA3C_NETWORKS: tuple[str, ...] = (
    "nips",
    "large-stride-4",
    "large-stride-3",
    "large-stride-2",
    "large-stride-1",
)


def paac(env: str, network: str, number: int) -> PaacConfig:
    """Return PAAC's configuration with `num_envs` environments."""
    return PaacConfig(env=env, network=network, num_envs=number, num_workers=min(256, devices.cores()), device="cuda")


def ga3c(env: str, network: str, number: int) -> Ga3cConfig:
    """Return GA3C's configuration with this number of agents. On an H100, more than two threads were slower."""
    return Ga3cConfig(
        env=env,
        network=network,
        num_agents=number,
        num_predictors=1,
        num_trainers=1,
        dynamic_adjustment=False,
        min_training_batch=40,
        device="cuda",
    )


def measured(what: str, config: RunConfig, seconds: float) -> float:
    """Take one measurement in a new process."""
    command = [sys.executable, "-m", "bench.gpu", "--one", what, config.model_dump_json(), "--seconds", str(seconds)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(json.loads(output.splitlines()[-1]))


def sweep(env: str, counts: list[int], networks: list[str], methods: list[str], seconds: float) -> None:
    """Print a table with one row per network and number of environments."""
    print(f"{devices.describe(devices.resolve('cuda'))}, {devices.cores()} cores, {env}\n")
    print("| environments or agents | network | ceiling | PAAC | over the ceiling | GA3C | over the ceiling |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for number in counts:
        most = measured("ceiling", paac(env, "nips", number), seconds)
        for network in networks:
            cells = [f"{number}", network, f"{most:,.0f}"]
            for method, known, config in (
                ("paac", PAAC_NETWORKS, paac(env, network, number)),
                ("ga3c", GA3C_NETWORKS, ga3c(env, network, number)),
            ):
                wanted = method in methods and network in known
                rate = measured("method", config, seconds) if wanted else None
                cells += [f"{rate:,.0f}", f"{rate / most:.2f}"] if rate else ["", ""]
            print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Run the sweep, or a single measurement of it."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("--env", default="ALE/Pong-v5")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of one measurement")
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS, help="numbers of environments or agents")
    networks = list(dict.fromkeys(PAAC_NETWORKS + GA3C_NETWORKS))
    parser.add_argument("--networks", nargs="+", default=networks, choices=networks, help="networks to measure")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS, help="methods to measure")
    parser.add_argument("--one", nargs=2, metavar=("WHAT", "CONFIG"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        what, config = options.one
        if what == "ceiling":
            print(ceiling(PaacConfig.model_validate_json(config), options.seconds))
        else:
            print(of_method(config_adapter.validate_json(config), options.seconds))
        return
    try:
        devices.resolve("cuda")
    except devices.DeviceError:
        sys.exit("bench.gpu needs a GPU that torch can use, and this machine has none; make bench measures the CPU")
    sweep(options.env, options.counts, options.networks, options.methods, options.seconds)


if __name__ == "__main__":
    main()
