"""Figure S2: driving in TORCS, which is unavailable in Arcadia."""

from arcadia_backend.papers.definition import Item, PrintedNumber, Substitute


def _printed(what: str, value: float, unit: str) -> PrintedNumber:
    protocol = "four settings: a slow and a fast car, with and without opponents"
    return PrintedNumber(what, value, unit, "A3C (Mnih et al. 2016)", "section 5.2", protocol)


ITEM = Item(
    name="figure-s2",
    label="Figure S2",
    title="Driving in TORCS",
    theirs="Trains the four asynchronous methods to drive in TORCS from images. The reward is the speed along "
    "the track. There are four settings: a slow and a fast car, with and without opponents. A3C is "
    "best.",
    ours="Not run: TORCS is unavailable here. Car Racing is also driven from images.",
    measures="",
    draw=None,
    published=(
        _printed("lowest score of A3C in the four settings, about", 75, "% of a human tester's score"),
        _printed("highest score of A3C in the four settings, about", 90, "% of a human tester's score"),
        _printed("training time, about", 12, "hours"),
    ),
    unavailable_reason="TORCS is unavailable. It is a desktop game with a server, and no Python package installs it.",
    substitute=Substitute(
        "Arcadia/CarRacing-v0",
        "The agent also drives from images, on a new track in each episode. Scores are not comparable with TORCS: "
        "the reward is for track tiles instead of speed, and there are no opponents.",
    ),
)
