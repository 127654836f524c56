"""Plays a live game: pictures and thoughts go to the viewers as they come, and their orders are heeded."""

import io
import queue
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import torch
from PIL import Image

from workers.contract import live
from workers.contract.config import RunConfig
from workers.contract.live import Order, Ordered, PictureHead, Scene
from workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from workers.trainer.evaluation import openings
from workers.trainer.evaluation.games import Game
from workers.trainer.evaluation.subjects import opener
from workers.trainer.recording.diary import kind_of_numbers, told
from workers.trainer.replays.video import Frame
from workers.trainer.run.checkpoints import Checkpoint
from workers.trainer.watching.line import Line
from workers.trainer.watching.pacing import Pace
from workers.trainer.watching.players import Agent, Arrival, choose, usual_temperature

# How soon a paused game heeds an order.
PAUSED_SECONDS = 0.05
# Fast, and small where a picture has few colours.
PNG_LEVEL = 1
SEEDS = 2**31


class Show:
    """One live game after another, until nobody watches or somebody ends it."""

    def __init__(self, line: Line, checkpoint: Checkpoint, config: RunConfig, directory: Path) -> None:
        self._line, self._config = line, config
        self._protocol = protocol_of(config)
        frames = config.environment.frames_per_step
        self._game: Game = opener(config.env, self._protocol, frames, config.action_set, filmed=True)()
        self._agent = Agent(checkpoint, config, self._game)
        self._arrival = Arrival(directory, self._load)
        self._pace = Pace(self._game.pictures_per_second)
        self._random = torch.Generator().manual_seed(secrets.randbelow(SEEDS))
        self._numbers = kind_of_numbers(self._agent.learnt, self._game.actions)
        self._temperature = usual_temperature(config.usual_acting)
        self._games = self._pictures = 0
        self._paused = self._anew = False
        self._steps = 0
        self._heard: list[str] = []
        self._thought: dict[str, object] = {"action": None, "value": None, "numbers": []}

    def play(self, should_stop: Callable[[], bool]) -> str:
        """Play until it is over, and say why it is."""
        try:
            self._begin()
            while self._line.over is None and not should_stop():
                self._heed_all()
                if self._anew:
                    self._begin()
                elif self._paused and not self._steps:
                    time.sleep(PAUSED_SECONDS)
                elif self._game.over:
                    self._begin()
                else:
                    self._decide()
        finally:
            self._game.close()
        return self._line.over or "it was stopped"

    def _begin(self) -> None:
        self._games += 1
        self._anew = False
        self._thought = {"action": None, "value": None, "numbers": []}
        self._agent.forget()
        drawn = openings.draws(self._protocol, secrets.randbelow(SEEDS), self._games)
        openings.opening(self._protocol, None)(self._game, self._games, drawn)
        self._tell_scene()
        self._game.show(self._show)

    def _decide(self) -> None:
        thoughts = self._agent.think(self._game)
        numbers, agent = thoughts.numbers, self._agent
        action = choose(numbers, agent.sampled, agent.actions, self._temperature, self._random)
        self._thought = {
            "action": action if isinstance(action, int) else [round(float(each), 4) for each in action],
            "value": round(float(thoughts.values[0]), 4),
            "numbers": [round(float(each), 4) for each in told(numbers[0], self._numbers)],
        }
        # An order that comes while this decision is carried out is for the next one.
        self._steps = 0
        self._game.step(action)

    def _show(self, picture: Frame) -> None:
        """Send a picture as soon as it is drawn, and wait until the next is due."""
        drawn = time.time()
        self._pictures += 1
        game, heard = self._game, self._heard
        self._heard = []
        head = PictureHead(
            picture=self._pictures,
            time=drawn,
            game=self._games,
            frames=game.frames,
            score=game.score,
            lives=game.lives,
            heard=heard,
            **self._thought,
        )
        self._line.send(live.packed(head, png(picture)))
        self._pace.wait()
        # Within a decision, too, so that an answer does not wait for the next one.
        self._heed_all()

    def _heed_all(self) -> None:
        while True:
            try:
                message = self._line.heard.get_nowait()
            except queue.Empty:
                return
            if message is None:
                self._tell_scene()
            elif isinstance(message, bytes):
                self._arrival.take(message)
            elif isinstance(said := live.told_adapter.validate_json(message), Ordered):
                self._heed(said.order)
            else:
                self._arrival.begin(said.checkpoint)

    def _heed(self, order: Order) -> None:
        if order.id:
            self._heard.append(order.id)
        if order.order == "ping":
            return
        if order.order in ("pause", "step"):
            self._paused = True
            self._steps = 1 if order.order == "step" else 0
        elif order.order == "go":
            self._paused = False
        elif order.order == "new game":
            self._anew = True
        elif order.order == "temperature":
            self._temperature = order.value
        self._tell_scene()

    def _load(self, checkpoint: Checkpoint) -> None:
        self._agent.load(checkpoint)
        self._tell_scene()

    def _tell_scene(self) -> None:
        scene = Scene(
            env=self._config.env,
            algorithm=self._config.algorithm,
            action_names=self._game.action_names,
            learnt=self._numbers,
            scale=self._game.scale,
            pictures_per_second=self._game.pictures_per_second,
            step=self._agent.file.step,
            frames=self._agent.file.frames,
            loaded=self._agent.loaded,
            game=self._games,
            paused=self._paused,
            temperature=self._temperature,
            sampled=self._agent.sampled,
            hands=None,
        )
        self._line.send(scene.model_dump_json())


def protocol_of(config: RunConfig) -> EvaluationProtocol:
    """Say how a live game begins and ends: as its longest evaluation."""
    return PROTOCOLS["no-op-30min" if config.environment.kind == "atari" else "episodes"]


def png(picture: Frame) -> bytes:
    """Return a picture as a file that every browser shows, without loss."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=PNG_LEVEL)
    return file.getvalue()
