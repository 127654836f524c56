# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Waiting between retries."""

from __future__ import annotations

import time


def sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)
