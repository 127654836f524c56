"""Example provenance for tests."""

from arcadia_workers.contract.provenance import Checkout, Provenance

COMMIT = "3f4a75ab5123aa0c1d2e3f4a75ab5123aa0c1d2e"
DIFF = "--- a/paac.py\n+++ b/paac.py\n@@ -1 +1 @@\n-rate = 1\n+rate = 2\n"

PROVENANCE = Provenance(
    build="0.1.0+3f4a75ab5123-dirty",
    checkout=Checkout(commit=COMMIT, branch="main", dirty=True, diff_cut=False, untracked=["notes.txt"]),
    problem=None,
    python="3.11.9",
    host="sun",
    os="Debian GNU/Linux 12 (Linux 6.1.0, x86_64)",
    cpu="AMD EPYC 9554",
    cores=2,
    memory_bytes=8 * 2**30,
    gpus=[],
    driver=None,
    cuda=None,
    command=["python", "-m", "arcadia_workers.trainer", "--dir", "run"],
    environment={"OMP_NUM_THREADS": "2"},
    packages={"numpy": "2.3.1", "torch": "2.13.0"},
    diff=DIFF,
)
