"""Lists of Atari games for suites, each with its suggested protocol, preset and budget."""

from dataclasses import dataclass

from arcadia_workers.contract import published
from arcadia_workers.contract.games import GAMES_OF_THE_PAPERS


@dataclass(frozen=True)
class GameList:
    """A named list of games."""

    name: str
    title: str
    # The purpose of the list, for users.
    sentence: str
    # Who chose the games, and where.
    source: str
    games: tuple[str, ...]
    # Suggested for suites over these games.
    protocol: str
    preset: str
    total_steps: int


def _of_paper(source: str) -> tuple[str, ...]:
    """Return the games in which a paper prints scores of agents."""
    return tuple(
        dict.fromkeys(
            row.env
            for row in published.scores()
            if row.source.startswith(source) and row.player not in ("random", "human")
        )
    )


ATARI_5 = GameList(
    name="atari-5",
    title="Atari-5",
    sentence="Five games whose scores predict the median over 57 games with an error of about 10 %.",
    source="Aitchison et al. 2023",
    games=tuple(row.env for row in published.atari_5_weights()),
    protocol="sticky-30min",
    preset="paac-sticky",
    total_steps=10_000_000,
)

# Suites use a list by its name.
GAME_LISTS: dict[str, GameList] = {
    games.name: games
    for games in (
        ATARI_5,
        GameList(
            name="atari-100k",
            title="Atari 100k",
            sentence="26 games after 100,000 decisions of training, which are 400,000 frames or two hours of play.",
            source="Kaiser et al. 2020 (SimPLe)",
            games=_of_paper("DIAMOND"),
            protocol="no-op-30min",
            preset="paac-100k",
            total_steps=100_000,
        ),
        GameList(
            name="paac-12",
            title="PAAC's games",
            sentence="The twelve games of PAAC's table 1.",
            source="Clemente et al. 2017, table 1",
            games=_of_paper("PAAC"),
            protocol="no-op-30min",
            preset="paac-paper-nips",
            total_steps=115_000_000,
        ),
        GameList(
            name="gorila-49",
            title="Gorila's games",
            sentence="The 49 games of DQN and Gorila.",
            source="Nair et al. 2015, tables 3 and 4",
            games=_of_paper("Gorila"),
            protocol="no-op-5min",
            preset="paac-paper-nips",
            total_steps=115_000_000,
        ),
        GameList(
            name="atari-57",
            title="Atari-57",
            sentence="The 57 games of the A3C paper's supplement.",
            source="Mnih et al. 2016, supplement",
            games=tuple(f"ALE/{game}-v5" for game in GAMES_OF_THE_PAPERS),
            protocol="sticky-30min",
            preset="paac-sticky",
            total_steps=50_000_000,
        ),
    )
}
