"""`make mutants`: apply small random mutations to copies of the sources, and run the tests that should notice them.

A mutation is killed if a test fails that passes without it. ARGS="--sample 20 --seed 7 client/arcadia/cli" tries
another sample, of some files.
"""

import argparse
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from importlib.util import cache_from_source
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from tests.mutants.mutations import Mutation, mutations_of
from tests.mutants.selection import SOURCES, Selection

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).parent / "equivalent.toml"
# Installed or built, and not mutated. Copies link to them.
LINKED = (".venv", "frontend/node_modules", "frontend/dist", "client/dist")
WANTED = 0.9
TEST_SECONDS, MUTATION_SECONDS = 180, 1800
NOTHING_RAN = 5  # exit status of pytest

Outcome = Literal["killed", "survived", "undecided"]


class Copy:
    """A copy of the working tree whose packages are imported instead of the installed ones."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._process: subprocess.Popen[bytes] | None = None
        for file in tracked_files():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, root / file, follow_symlinks=False)
        for folder in LINKED:
            (root / folder).symlink_to(ROOT / folder)
        packages = ":".join(str(root / Path(source).parent) for source in SOURCES)
        self._environment = os.environ | {"PYTHONPATH": packages}
        for source in SOURCES:
            self._check_import(source)

    def _check_import(self, source: str) -> None:
        """Fail if tests in this copy would import a package from elsewhere."""
        show = f"import {Path(source).name} as package; print(package.__path__[0])"
        command = [sys.executable, "-c", show]
        found = subprocess.run(
            command, cwd=self.root, env=self._environment, check=True, capture_output=True, text=True
        )
        if found.stdout.strip() != str(self.root / source):
            sys.exit(f"{found.stdout.strip()} is imported instead of {self.root / source}.")

    def try_mutation(self, mutation: Mutation, tests: list[str]) -> Outcome:
        """Return whether a test fails with a mutation, and passes again without it."""
        source = (self.root / mutation.file).read_bytes()
        self._write(mutation.file, mutation.apply(source))
        try:
            status = self._pytest("--cache-clear", "-x", *tests)
        finally:
            self._write(mutation.file, source)
        if status in (0, -signal.SIGKILL):
            return "undecided" if status else "survived"
        # If the tests could not even be collected, no failure is noted, and none runs.
        again = self._pytest("--last-failed", "--last-failed-no-failures=none", *tests)
        return "killed" if again in (0, NOTHING_RAN) else "undecided"

    def _write(self, file: str, source: bytes) -> None:
        """Write a module without its bytecode, which is recognized only by its second and size."""
        Path(cache_from_source(self.root / file)).unlink(missing_ok=True)
        (self.root / file).write_bytes(source)

    def _pytest(self, *arguments: str) -> int:
        """Run tests and return the exit status. Kill them if they hang."""
        options = ["-q", "--timeout", str(TEST_SECONDS)]
        if any(argument.startswith("tests/") for argument in arguments):
            options.append("--required")  # the tests of the client do not know it
        with (self.root / "pytest.log").open("wb") as log, suppress(subprocess.TimeoutExpired):
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *options, *arguments],
                cwd=self.root,
                env=self._environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._process.wait(MUTATION_SECONDS)
        return self.stop()

    def stop(self) -> int:
        """Kill the tests and what they started, if they still run. Return their exit status."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()


def tracked_files() -> list[str]:
    """Return the files of the working tree that git does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [file for file in listed.split("\0") if (ROOT / file).is_file()]


@contextmanager
def copies(number: int) -> Iterator[list[Copy]]:
    """Yield copies of the working tree, and delete them afterwards."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="arcadia-mutants-") as folder:
        yield [Copy(Path(folder) / str(each)) for each in range(number)]


def all_mutations(places: Sequence[str]) -> list[Mutation]:
    """Return the mutations of all sources below these places, in order, without those known to be equivalent."""
    known = equivalents()
    found = []
    for file in tracked_files():
        if file.endswith(".py") and file.startswith(tuple(SOURCES)) and file.startswith(tuple(places)):
            source = (ROOT / file).read_bytes()
            found += [each for each in mutations_of(file, source) if (file, *each.changed_lines(source)) not in known]
    return found


def equivalents() -> set[tuple[str, str, str]]:
    """Return the mutations that change nothing that a test could notice."""
    listed = tomllib.loads(EQUIVALENT.read_text())["mutation"]
    return {(each["file"], each["before"], each["after"]) for each in listed}


def describe(mutation: Mutation) -> str:
    """Return the place of a mutation and its change as a diff."""
    before, after = mutation.changed_lines((ROOT / mutation.file).read_bytes())
    lines = [f"    - {line}" for line in before.splitlines()] + [f"    + {line}" for line in after.splitlines()]
    return "\n".join([f"{mutation.file}:{mutation.line}", *lines])


def try_all(chosen: list[Mutation], number: int) -> Counter[tuple[str, Outcome]]:
    """Try mutations on several copies at once. Print each and count the outcomes by package."""
    selection, outcomes = Selection(ROOT), Counter[tuple[str, Outcome]]()
    with copies(number) as made, ThreadPoolExecutor(number) as pool:
        free: SimpleQueue[Copy] = SimpleQueue()
        for each in made:
            free.put(each)

        def try_one(mutation: Mutation) -> Outcome:
            copy = free.get()
            try:
                return copy.try_mutation(mutation, selection.tests_of(mutation.file))
            finally:
                free.put(copy)

        waiting = {pool.submit(try_one, mutation): mutation for mutation in chosen}
        try:
            for done in as_completed(waiting):
                mutation, outcome = waiting[done], done.result()
                outcomes[mutation.file.partition("/")[0], outcome] += 1
                print(f"{outcomes.total():4d} {outcome:9} {describe(mutation)}", flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for each in made:
                each.stop()
            raise
    return outcomes


def main() -> int:
    """Try a sample of mutations. Fail if too many survive."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description=__doc__)
    parser.add_argument("places", nargs="*", default=[""], help="files or folders (default: all packages)")
    parser.add_argument("--sample", type=int, default=200, metavar="N", help="mutations to try (default: 200)")
    parser.add_argument("--seed", type=int, help="of the sample; drawn and printed if left out")
    parser.add_argument(
        "--copies", type=int, default=os.cpu_count(), metavar="N", help="tested at once (default: cores)"
    )
    options = parser.parse_args()
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    mutations = all_mutations(options.places)
    chosen = random.Random(seed).sample(mutations, min(options.sample, len(mutations)))
    print(f"seed {seed}, {len(chosen)} of {len(mutations)} mutations", flush=True)
    outcomes = try_all(chosen, options.copies)
    for package in [source.partition("/")[0] for source in SOURCES]:
        counts = ", ".join(f"{outcomes[package, outcome]} {outcome}" for outcome in ("killed", "survived", "undecided"))
        print(f"{package}: {counts}")
    killed = sum(number for (_, outcome), number in outcomes.items() if outcome == "killed")
    decided = sum(number for (_, outcome), number in outcomes.items() if outcome != "undecided")
    share = killed / decided if decided else 1.0
    print(f"{killed} of {decided} killed: {share:.0%}, wanted {WANTED:.0%}")
    return int(share < WANTED)


if __name__ == "__main__":
    sys.exit(main())
