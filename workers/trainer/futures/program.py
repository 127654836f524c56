"""Frame of the command-line programs for futures and calibrations."""

import argparse
import os
import sys
from collections.abc import Callable

from pydantic import BaseModel

from workers.contract.plugins.loading import load_named_in_environment
from workers.trainer.errors import show
from workers.trainer.evaluation.request import RequestError
from workers.trainer.stopping import StopRequest

Compute = Callable[[argparse.Namespace, StopRequest], BaseModel]


def main(options: argparse.Namespace, compute: Compute, table: Callable[..., str]) -> int:
    """Compute a document and print it. Return the exit status."""
    load_named_in_environment()
    stop = StopRequest()
    try:
        stop.listen()
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        document = compute(options, stop)
    except KeyboardInterrupt:
        print(f"{stop.reason}: there is no result", file=sys.stderr)
        return 1
    except Exception as error:
        show(error)
        return 2 if isinstance(error, RequestError) else 1
    print(document.model_dump_json(indent=2) if options.json else table(document), flush=True)
    return 0
