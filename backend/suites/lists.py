"""Named lists of games as the API shows them."""

from backend.games.catalog import slug_of
from backend.suites import schemas
from workers.contract.game_lists import GAME_LISTS
from workers.contract.games import env_title


def read_game_lists() -> list[schemas.SuiteList]:
    """Return the lists of games that suites can run over."""
    return [
        schemas.SuiteList(
            name=each.name,
            title=each.title,
            sentence=each.sentence,
            source=each.source,
            games=[schemas.ListedGame(env=env, name=env_title(env), slug=slug_of(env)) for env in each.games],
            protocol=each.protocol,
            preset=each.preset,
            total_steps=each.total_steps,
        )
        for each in GAME_LISTS.values()
    ]
