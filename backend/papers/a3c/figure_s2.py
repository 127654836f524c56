"""Figure S2: driving in TORCS, which Arcadia does not have."""

from backend.papers.definition import Instead, Item, Number


def _printed(what: str, value: float, unit: str) -> Number:
    protocol = "four settings: a slow and a fast car, with and without opponents"
    return Number(what, value, unit, "A3C (Mnih et al. 2016)", "section 5.2", protocol)


ITEM = Item(
    name="figure-s2",
    label="Figure S2",
    title="Driving in TORCS",
    theirs="Trained the four asynchronous methods to drive in TORCS from pictures, with a reward for the speed along "
    "the track: a slow and a fast car, with and without opponents. A3C was best.",
    ours="Runs nothing: TORCS is unavailable here. Car Racing is driven from pictures as well.",
    measures="",
    draw=None,
    published=(
        _printed("A3C's lowest score of the four settings, around", 75, "% of a human tester's"),
        _printed("A3C's highest score of the four settings, around", 90, "% of a human tester's"),
        _printed("training until then, about", 12, "hours"),
    ),
    cannot="TORCS is unavailable: it is a desktop game with windows and a server, and no package installs it.",
    instead=Instead(
        "Arcadia/CarRacing-v0",
        "Its car is driven from pictures, too, on a new track in each episode. Its scores do not compare with those of "
        "TORCS: the reward is for tiles of track and not for speed, and there are no opponents.",
    ),
)
