"""Human-normalised scores: 100 · (score − random) / (human − random), both of the same protocol's table."""

from workers.contract import published
from workers.contract.protocols.document import NormalisedBy


def reference(env: str, protocol: str) -> NormalisedBy | str:
    """Find the random and the human score of a game by a protocol, or say why there is no normalised score."""
    rows = {
        row.player: row
        for row in published.scores()
        if row.env == env and row.protocol == protocol and row.player in ("random", "human")
    }
    if len(rows) < 2:
        return f"the papers publish no random and human scores of {env} by {protocol}"
    random, human = rows["random"], rows["human"]
    if random.score >= human.score:
        return f"the random player beats the human in {env} by {protocol} ({random.source}, {random.table})"
    return NormalisedBy(
        source=random.source, table=random.table, protocol=protocol, random=random.score, human=human.score
    )


def normalised(score: float, by: NormalisedBy) -> float:
    """Place a score on the scale on which random is 0 and the human 100."""
    return 100 * (score - by.random) / (by.human - by.random)
