"""Atari games by their names in URLs, such as ms-pacman."""

from typing import Annotated

from fastapi import Path

from backend.errors import NotFound
from workers.contract.games import ENVIRONMENTS, Environment, close_to, rom_of

Slug = Annotated[str, Path(max_length=100, description="Name of the game in URLs, such as ms-pacman.")]


def slug_of(env: str) -> str:
    """Return the name of a game in URLs."""
    return rom_of(env).replace("_", "-")


GAMES: dict[str, Environment] = {slug_of(game.id): game for game in ENVIRONMENTS.values() if game.family.has_game_pages}
ATARI = [game.id for game in GAMES.values()]


def find_game(slug: str) -> Environment:
    """Return the game. Raise NotFound, which suggests similar names, if there is none."""
    game = GAMES.get(slug)
    if game is None:
        close = [slug_of(env) for env in close_to(slug.replace("-", "")) if env in ATARI]
        hint = f"Did you mean {', '.join(close)}?" if close else "Games have names such as pong and ms-pacman."
        raise NotFound(f"There is no Atari game {slug[:80]!r}. {hint}")
    return game
