"""Human-normalized scores: 100 · (score − random) / (human − random), with both references from one table.

The table belongs to the score's protocol, or to the `normalized_by` of that protocol.
"""

from workers.contract import published
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.document import NormalizedBy


def reference(env: str, protocol: str) -> NormalizedBy | str:
    """Return the random and human scores of a game by a protocol, or why there is no normalized score."""
    known = PROTOCOLS.get(protocol)
    protocol = (known and known.normalized_by) or protocol
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
    return NormalizedBy(
        source=random.source, table=random.table, protocol=protocol, random=random.score, human=human.score
    )


def normalized(score: float, by: NormalizedBy) -> float:
    """Return a score on the scale where random is 0 and human is 100."""
    return 100 * (score - by.random) / (by.human - by.random)
