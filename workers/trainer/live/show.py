"""Live game: sends pictures and network outputs to the viewers and executes their orders."""

import queue
import time
from collections.abc import Callable
from pathlib import Path

from workers.contract import live
from workers.contract.live import Ordered, PictureHead, Scene
from workers.contract.orders import (
    Go,
    HandBack,
    Keep,
    Keys,
    NewGame,
    Order,
    Pause,
    Ping,
    Seen,
    SetTemperature,
    Step,
    TakeOver,
)
from workers.trainer.games.emulator import AtariGame
from workers.trainer.games.openings import emulated
from workers.trainer.games.video import Frame
from workers.trainer.live.connection import LiveConnection
from workers.trainer.live.hands import Hands
from workers.trainer.live.keeping import Keeps, Record
from workers.trainer.live.live_agent import CheckpointReceiver, DecisionDetails
from workers.trainer.live.pacing import Pace
from workers.trainer.live.pictures import png
from workers.trainer.live.stagings import Staging
from workers.trainer.run.checkpoints import LoadedCheckpoint

# The maximum delay of an order while the game is paused.
STILL_SECONDS = 0.01
NO_THOUGHT: DecisionDetails = {"action": None, "value": None, "numbers": []}


class Show:
    """Plays live games one after another until nobody watches or the show is stopped."""

    def __init__(self, line: LiveConnection, staging: Staging, directory: Path, keep: Keeps = lambda _: None) -> None:
        self._line, self._staging, self._keep = line, staging, keep
        self._record = Record()
        self._game, self._agent = staging.game, staging.agent
        self._arrival = CheckpointReceiver(directory, self._load)
        self._pace = Pace(self._game.pictures_per_second)
        self._hands = Hands()
        self._games = self._pictures = 0
        self._paused = self._anew = self._keeps = False
        self._steps = 0
        self._heard: list[str] = []
        self._thought = NO_THOUGHT

    def play(self, should_stop: Callable[[], bool]) -> str:
        """Play until the end and return its reason."""
        try:
            self._begin()
            while self._line.over is None and not should_stop():
                self._heed_all()
                self._keep_if_wished()
                if self._anew or (self._game.over and self._by_agent):
                    self._begin()
                elif self._stands_still:
                    time.sleep(STILL_SECONDS)
                elif self._hands.viewer is not None:
                    self._play_frame()
                else:
                    self._decide()
        finally:
            self._game.close()
        return self._line.over or "it was stopped"

    @property
    def _by_agent(self) -> bool:
        return self._agent is not None and self._hands.viewer is None

    @property
    def _stands_still(self) -> bool:
        waits = self._game.over or (self._agent is None and self._hands.viewer is None)
        return waits or (self._paused and not self._steps)

    def _begin(self) -> None:
        self._games += 1
        self._anew = False
        self._thought = NO_THOUGHT
        if self._agent:
            self._agent.forget()
        self._staging.open(self._games)
        self._record = Record()
        self._tell_scene()
        self._game.show(self._show)

    def _keep_if_wished(self) -> None:
        """Save the game so far if requested. Orders may come within a frame, so this runs between frames."""
        if self._keeps and (kept := self._record.kept(emulated(self._game))):
            self._keep(kept)
        self._keeps = False

    def _decide(self) -> None:
        """Take one decision of the agent."""
        if self._agent is None:
            return
        action, self._thought = self._agent.decide(self._game)
        # An order that comes during this decision applies to the next one.
        self._steps = 0
        self._game.step(action)

    def _play_frame(self) -> None:
        """Play one frame with a person's keys."""
        game = emulated(self._game)
        name = self._hands.action(game.action_names)
        chosen = game.action_names.index(name) if name in game.action_names else None
        self._thought = NO_THOUGHT | {"action": chosen}
        self._steps = 0
        game.do(name)
        self._record.see(game)
        if game.over:
            self._tell_scene()

    def _show(self, picture: Frame) -> None:
        """Send a picture and wait until the next one is due."""
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
        # Also within a decision, so that an answer does not wait for the next one.
        self._heed_all()

    def _heed_all(self) -> None:
        while True:
            try:
                message = self._line.heard.get_nowait()
            except queue.Empty:
                break
            if message is None:
                # The viewers have new names after a reconnect.
                self._end_human_play()
                self._tell_scene()
            elif isinstance(message, bytes):
                self._arrival.take(message)
            elif isinstance(said := live.stage_message_adapter.validate_json(message), Ordered):
                self._hear(said)
            else:
                self._arrival.begin(said.checkpoint)
        if self._hands.silent:
            self._end_human_play()
            self._tell_scene()

    def _hear(self, said: Ordered) -> None:
        """Execute an order. While a person plays, other viewers cannot give orders."""
        if said.order.id:
            self._heard.append(said.order.id)
        self._hands.hear(said.viewer)
        if self._hands.viewer in (None, said.viewer):
            self._heed(said.viewer, said.order)

    def _heed(self, viewer: str, order: Order) -> None:
        if isinstance(order, Ping | Seen):
            return
        if isinstance(order, Keys):
            self._hands.hold(viewer, order.held)
            return
        if isinstance(order, Keep):
            self._keeps = self._agent is None
            return
        if isinstance(order, TakeOver):
            if isinstance(self._game, AtariGame):
                self._hands.take(viewer)
        elif isinstance(order, HandBack):
            self._end_human_play()
        else:
            self._steer(order)
        self._tell_scene()

    def _steer(self, order: Pause | Go | Step | NewGame | SetTemperature) -> None:
        if isinstance(order, NewGame):
            self._anew = True
        elif isinstance(order, SetTemperature):
            if self._agent:
                self._agent.temperature = order.value
        else:
            self._paused = not isinstance(order, Go)
            self._steps = 1 if isinstance(order, Step) else 0

    def _end_human_play(self) -> None:
        """End a person's play. The agent then sees only the current screen, as at the start of an episode."""
        if self._hands.viewer is not None:
            self._hands.free()
            emulated(self._game).hold([])
            if self._agent:
                self._agent.forget()

    def _load(self, checkpoint: LoadedCheckpoint) -> None:
        if self._agent:
            self._agent.load(checkpoint)
            self._tell_scene()

    def _tell_scene(self) -> None:
        scene = Scene(
            env=self._staging.env,
            action_names=self._game.action_names,
            scale=self._game.scale,
            pictures_per_second=self._game.pictures_per_second,
            game=self._games,
            paused=self._paused,
            over=self._game.over and not self._by_agent,
            agent=self._agent.on_stage() if self._agent else None,
            takes_hands=isinstance(self._game, AtariGame),
            hands=self._hands.viewer,
        )
        self._line.send(scene.model_dump_json())
