"""A Slurm cluster, and an installation that submits runs to it."""

from collections.abc import Iterator

import pytest

from tests.clusters.slurm_cluster import SlurmCluster, require_slurm, running_cluster
from tests.installation import Installation


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    """Yield a cluster with two nodes of one core."""
    require_slurm()
    with running_cluster(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def installation(slurm: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers that looks at the jobs of the cluster each second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(slurm.config))
        installation = Installation(tmp_path_factory.mktemp("installation"), scheduler_seconds=1)
    with installation:
        address = f"http://127.0.0.1:{installation.port}"
        installation.http.put("executors/slurm", json=slurm.settings(address)).raise_for_status()
        yield installation
