"""Waiting between retries."""

from __future__ import annotations

import asyncio


async def sleep(seconds: float) -> None:
    """Wait."""
    await asyncio.sleep(seconds)
