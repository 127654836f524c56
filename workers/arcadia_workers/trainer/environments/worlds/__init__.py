"""Arcadia's own environments. Importing this package registers them with gymnasium."""

import gymnasium

from arcadia_workers.contract.games import MUJOCO_TASKS

HERE = "arcadia_workers.trainer.environments.worlds"

gymnasium.register("Arcadia/Identity-v0", entry_point=f"{HERE}.puzzles:Identity")
gymnasium.register("Arcadia/Catch-v0", entry_point=f"{HERE}.puzzles:Catch")
gymnasium.register("Arcadia/Recall-v0", entry_point=f"{HERE}.puzzles:Recall")
gymnasium.register("Arcadia/Target-v0", entry_point=f"{HERE}.puzzles:Target")
gymnasium.register("Arcadia/Labyrinth-v0", entry_point=f"{HERE}.labyrinth:Labyrinth")
gymnasium.register("Arcadia/CarRacing-v0", entry_point=f"{HERE}.physics:Driving", kwargs={"continuous": False})
gymnasium.register("Arcadia/CarRacingContinuous-v0", entry_point=f"{HERE}.physics:Driving", kwargs={"continuous": True})
for task in MUJOCO_TASKS:
    gymnasium.register(f"Arcadia/{task}Pixels-v0", entry_point=f"{HERE}.physics:Pixels", kwargs={"task": f"{task}-v5"})
