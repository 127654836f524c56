"""Check whether PAAC repeats its first updates from its seed: `python -m bench.repeats --times 20`.

Each training runs in a new process with a different memory layout: before it trains, it allocates blocks of random
sizes and frees half of them. The program compares the hashes of everything that a checkpoint would contain.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
from collections import Counter

# Set this before importing torch, as the trainer does.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.networks.gradients import body_dtype
from arcadia_workers.trainer.run.run import NullRun, TrainingState
from arcadia_workers.trainer.session import fix_seeds
from bench.raw_values import add_csv_option, write_rows

UPDATES = {"ALE/Pong-v5": 50, "CartPole-v1": 500}


def fingerprint(state: TrainingState) -> str:
    """Hash a state's tensors and facts."""
    found = hashlib.sha256(json.dumps([state.step, state.frames, state.facts], sort_keys=True).encode())
    for name, tensor in sorted(state.tensors.items()):
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        found.update(tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


def train_once(env: str, updates: int) -> None:
    """Train in this process, and print the result as a line of JSON."""
    blocks = [bytearray(random.SystemRandom().randrange(1, 300_000)) for _ in range(200)]
    held = blocks[::2]
    del blocks
    config = PaacConfig(env=env)
    config = config.model_copy(update={"total_steps": updates * config.num_envs * config.t_max})
    run = NullRun(device=devices.resolve(config.device))
    devices.set_threads(config, run.device)
    fix_seeds(config.seed)
    TRAINERS[config.algorithm].train(config, run)
    del held
    dtype = str(body_dtype(config, run.device)).removeprefix("torch.")
    how = f"{devices.describe(run.device)}, {dtype}, {torch.get_num_threads()} threads"
    print(json.dumps({"hash": fingerprint(run.saved[-1]), "how": how}))


def train_afresh(env: str, updates: int) -> dict[str, str]:
    """Train in a new process, and return its result."""
    command = [sys.executable, "-m", "bench.repeats", "--once", env, str(updates)]
    # The environment variables are at the end of the stack. Their length shifts the addresses there.
    padded = {**os.environ, "PADDING": "x" * random.SystemRandom().randrange(4_096)}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=padded).stdout
    reported: dict[str, str] = json.loads(output.splitlines()[-1])
    return reported


def compare(env: str, times: int, updates: int) -> dict[str, object]:
    """Repeat, print the count of each hash, and return the number of different ones."""
    reported = [train_afresh(env, updates) for _ in range(times)]
    counts = Counter(each["hash"] for each in reported)
    load = os.getloadavg()[1]
    print(f"{env}: {updates} updates, {times} times, {reported[0]['how']}, load average {load:.0f}")
    for found, count in counts.most_common():
        print(f"  {count:>3} x {found[:16]}")
    result: dict[str, object] = {"env": env, "updates": updates, "computation": reported[0]["how"]}
    return result | {"repetitions": times, "different_results": len(counts)}


def main() -> None:
    """Compare on each game. Exit with status 1 if a game did not repeat."""
    parser = argparse.ArgumentParser(prog="python -m bench.repeats", description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--env", choices=UPDATES, action="append", help="repeatable (default: all)")
    parser.add_argument("--once", nargs=2, metavar=("ENV", "UPDATES"), help="train once, in this process")
    add_csv_option(parser)
    options = parser.parse_args()
    if options.once:
        train_once(options.once[0], int(options.once[1]))
        return
    rows = [compare(env, options.times, UPDATES[env]) for env in options.env or UPDATES]
    write_rows(options.csv, rows)
    sys.exit(1 if any(row["different_results"] != 1 for row in rows) else 0)


if __name__ == "__main__":
    main()
