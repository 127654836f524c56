"""Provenance of this process."""

import dataclasses
import os
import platform
import socket
import sys
from pathlib import Path

import psutil
from arcadia.reporting.provenance.checkout import CheckoutError, read_checkout
from arcadia.reporting.provenance.hardware import describe_cpu, describe_os, read_gpus
from arcadia.reporting.provenance.packages import installed_packages
from arcadia.reporting.provenance.variables import relevant_variables

from workers.contract.build import ROOT, build
from workers.contract.provenance import Checkout, Gpu, Provenance
from workers.trainer.host.devices import cores


def trainer_command() -> list[str]:
    """Return the command line of this trainer."""
    return ["python", "-m", "workers.trainer", *sys.argv[1:]]


def collect_provenance(root: Path = ROOT) -> Provenance:
    """Return the provenance of this process. It takes a tenth of a second, mostly in git."""
    problem, state = None, None
    try:
        state = read_checkout(root)
    except CheckoutError as error:
        problem = str(error)
    checkout = dataclasses.asdict(state) if state else None
    diff = checkout.pop("diff") if checkout else ""
    gpus = read_gpus()
    return Provenance(
        build=build(),
        checkout=Checkout.model_validate(checkout) if checkout else None,
        problem=problem,
        python=platform.python_version(),
        host=socket.gethostname(),
        os=describe_os(),
        cpu=describe_cpu(),
        cores=cores(),
        memory_bytes=psutil.virtual_memory().total,
        gpus=[Gpu(name=gpu.name, memory_bytes=gpu.memory_bytes) for gpu in gpus.gpus],
        driver=gpus.driver,
        cuda=gpus.cuda,
        command=trainer_command(),
        environment=relevant_variables(os.environ),
        packages=installed_packages(),
        diff=diff,
    )
