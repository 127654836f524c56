"""Log lines of the backend and the workers."""

import logging
import sys

FORMAT = "%(asctime)s %(levelname)-7s %(message)s"
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


def log_to_standard_output() -> None:
    """Write log lines with their time and level to standard output."""
    logging.basicConfig(level=logging.INFO, format=FORMAT, datefmt=TIME_FORMAT, stream=sys.stdout)
