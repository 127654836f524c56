"""Saliency of replays: computed by an errand on request, kept beside the replay, and removed with it."""
