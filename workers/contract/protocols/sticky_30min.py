"""Sticky actions with all actions of the joystick (Machado et al. 2018)."""

from workers.contract.protocols.protocol import EvaluationProtocol

STICKY_30MIN = EvaluationProtocol(
    name="sticky-30min",
    title="Sticky actions, 30 minutes",
    sentence="100 episodes. In each frame, the emulator repeats the action of the previous frame with a probability "
    "of 0.25. The agent begins at the reset and chooses among all 18 actions. An episode ends with the game or after "
    "108,000 frames (30 minutes); a lost life does not end it.",
    source="Machado et al. 2018: sticky actions with a probability of 0.25, all actions, no signal of lost lives; "
    "Arcadia chose the number of episodes, and the cap is that of no-op-30min",
    opening="no-ops",
    episodes=100,
    noops=(0, 0),
    cap_frames=108_000,
    repeat_action_probability=0.25,
    full_action_set=True,
    normalized_by="no-op-30min",
)
