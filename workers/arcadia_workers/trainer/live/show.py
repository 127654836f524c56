"""Live game: sends pictures and network outputs to the viewers and executes their orders."""

import queue
import time
from collections.abc import Callable
from pathlib import Path

from arcadia_workers.contract import live
from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.events import MOST_SCREENS, Continued
from arcadia_workers.contract.live import (
    Go,
    HandBack,
    Keep,
    Keys,
    LetAgentPlay,
    NewGame,
    Order,
    Ordered,
    Pause,
    PictureHead,
    Ping,
    Scene,
    Seen,
    SetTemperature,
    Step,
    TakeOver,
    are_playable,
    use_fire,
)
from arcadia_workers.trainer.evaluation.report import KeptPlay
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.games.video import Frame
from arcadia_workers.trainer.live.connection import LiveConnection, Pace, PlayerInput, png
from arcadia_workers.trainer.live.live_agent import CheckpointReceiver, DecisionDetails, Staging
from arcadia_workers.trainer.run.checkpoints import LoadedCheckpoint

Keeps = Callable[[KeptPlay], None]
"""Takes a game that is kept."""


class Record:
    """A game from its current frame on. If it continues a replay, an agent may play in it."""

    def __init__(self, game: PlayableGame, *, continues: bool) -> None:
        self._game, self._continues = game, continues
        self._frames, self._score = game.frames, game.score
        self._seen, self._agent_frames = game.frames, 0
        self._screens: list[bytes] = []
        self._kept = self._frames

    def see(self, *, by_agent: bool) -> None:
        """Record a decision. Without an agent, each frame is a decision, and its screen is hashed."""
        if by_agent:
            self._agent_frames += self._game.frames - self._seen
        elif not self._continues and isinstance(self._game, AtariGame):
            self._screens.append(bytes.fromhex(self._game.screen_hash()))
        self._seen = self._game.frames

    def kept(self) -> KeptPlay | None:
        """Return the game so far, or None if nothing is new since the last call."""
        game = self._game
        if game.frames == self._kept:
            return None
        self._kept = game.frames
        return KeptPlay(
            seed=game.seed,
            actions=tuple(game.trail),
            played=game.frames,
            score=game.score,
            ended="unfinished" if not game.over else "cut off" if game.cut_off else "over",
            emulator=game.emulator,
            screens=[] if self._continues else self._hashes(),
            continued=self._continued() if self._continues else None,
        )

    def _hashes(self) -> list[tuple[int, str]]:
        return [(frame, self._screens[frame - 1].hex()) for frame in spread(self._game.frames, MOST_SCREENS)]

    def _continued(self) -> Continued:
        return Continued(frames=self._frames, score=self._game.score - self._score, agent_frames=self._agent_frames)


def spread(frames: int, most: int) -> list[int]:
    """Return the middle frames of equal parts of a game, without the last frame."""
    number = min(most, frames - 1)
    return [(2 * part + 1) * (frames - 1) // (2 * number) + 1 for part in range(number)]


# The maximum delay of an order while the game is paused.
STILL_SECONDS = 0.01
NO_THOUGHT: DecisionDetails = {"action": None, "value": None, "numbers": []}


class Show:
    """Series of live games, until nobody watches or the show is stopped."""

    def __init__(self, line: LiveConnection, staging: Staging, directory: Path, keep: Keeps = lambda _: None) -> None:
        self._line, self._staging, self._keep = line, staging, keep
        self._game, self._agent = staging.game, staging.agent
        self._arrival = CheckpointReceiver(directory, self._load)
        self._pace = Pace(self._game.pictures_per_second)
        self._input = PlayerInput()
        self._games = self._pictures = 0
        self._paused = self._anew = self._keeps = False
        # A game that continues a replay is paused until a key is pressed or the agent may play.
        self._untouched = self._agent_plays = False
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
                if self._anew or (self._game.over and self._starts_again):
                    self._begin()
                elif self._stands_still:
                    time.sleep(STILL_SECONDS)
                elif self._input.viewer is not None:
                    self._play_decision()
                else:
                    self._decide()
        finally:
            self._game.close()
        return self._line.over or "it was stopped"

    @property
    def _continues_replay(self) -> bool:
        return self._staging.origin is not None

    @property
    def _starts_again(self) -> bool:
        """True if another game follows automatically."""
        return self._agent is not None and self._input.viewer is None and not self._continues_replay

    @property
    def _waits(self) -> bool:
        """True if a person has to do something first."""
        if self._input.viewer is None:
            return self._agent is None or not self._agent_plays
        return self._untouched

    @property
    def _stands_still(self) -> bool:
        if self._game.over or self._waits or (self._paused and not self._steps):
            return True
        if self._input.viewer is None or self._game.can_rest:
            return False
        # Without an action that does nothing, a game moves only while a key is held.
        return not self._input.mean_action(self._game.action_names)

    def _begin(self) -> None:
        self._games += 1
        self._anew = False
        self._thought = NO_THOUGHT
        if self._agent:
            self._agent.forget()
        self._untouched = self._continues_replay
        self._agent_plays = not self._continues_replay
        self._staging.open(self._games)
        self._record = Record(self._game, continues=self._continues_replay)
        self._tell_scene()
        self._game.show(self._show)

    def _keep_if_wished(self) -> None:
        """Save the game so far if requested. Orders may come within a frame, so this runs between frames."""
        if self._keeps and (kept := self._record.kept()):
            self._keep(kept)
        self._keeps = False

    def _decide(self) -> None:
        """Take one decision of the agent."""
        if self._agent is None:
            return
        action, self._thought = self._agent.decide(self._game)
        self._take(lambda: self._game.step(action), by_agent=True)

    def _play_decision(self) -> None:
        """Take one decision with a person's keys. The agent sees it, so that it can continue at any time."""
        self._thought = self._agent.watch(self._game) if self._agent else NO_THOUGHT
        self._take(lambda: self._game.play(self._choose), by_agent=False)

    def _take(self, step: Callable[[], None], *, by_agent: bool) -> None:
        """Take a decision and record it."""
        # An order that comes during this decision applies to the next one.
        self._steps = 0
        step()
        self._record.see(by_agent=by_agent)
        if self._game.over and not self._starts_again:
            self._tell_scene()

    def _choose(self) -> str:
        """Return the action that the held keys mean."""
        names = self._game.action_names
        name = self._input.action(names)
        self._thought = self._thought | {"action": names.index(name) if name in names else None}
        return name

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
        # Also within a decision, so that an answer does not wait for the next decision.
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
                if self._stands_still:
                    # The picture may have been sent before the connection was open.
                    self._game.show(self._show)
            elif isinstance(message, bytes):
                self._arrival.take(message)
            elif isinstance(said := live.stage_message_adapter.validate_json(message), Ordered):
                self._hear(said)
            else:
                self._arrival.begin(said.checkpoint)
        if self._input.silent:
            self._end_human_play()
            self._tell_scene()

    def _hear(self, said: Ordered) -> None:
        """Execute an order. While a person plays, other viewers cannot give orders."""
        if said.order.id:
            self._heard.append(said.order.id)
        self._input.hear(said.viewer)
        if self._input.viewer in (None, said.viewer):
            self._heed(said.viewer, said.order)

    def _heed(self, viewer: str, order: Order) -> None:
        if isinstance(order, Ping | Seen):
            return
        if isinstance(order, Keys):
            self._input.hold(viewer, order.held)
            if order.held and self._untouched and viewer == self._input.viewer:
                self._untouched = False
                self._tell_scene()
            return
        if isinstance(order, Keep):
            self._keeps = self._agent is None or self._continues_replay
            return
        if isinstance(order, TakeOver):
            if self._takes_hands:
                self._input.take(viewer)
        elif isinstance(order, LetAgentPlay):
            self._end_human_play()
            self._agent_plays = True
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
        """End a person's play. A game that continues a replay then waits until a person or the agent may play."""
        self._input.free()
        self._agent_plays = not self._continues_replay

    def _load(self, checkpoint: LoadedCheckpoint) -> None:
        if self._agent:
            self._agent.load(checkpoint)
            self._tell_scene()

    @property
    def _takes_hands(self) -> bool:
        """True if a person can play."""
        return isinstance(self._game.actions, Discrete) and are_playable(self._game.action_names)

    def _tell_scene(self) -> None:
        scene = Scene(
            env=self._staging.env,
            action_names=self._game.action_names,
            scale=self._game.scale,
            pictures_per_second=self._game.pictures_per_second,
            game=self._games,
            paused=self._paused,
            over=self._game.over and not self._starts_again,
            waiting=self._waits and not self._game.over,
            origin=self._staging.origin,
            agent=self._agent.on_stage() if self._agent else None,
            takes_hands=self._takes_hands,
            can_rest=self._game.can_rest,
            has_fire=use_fire(self._game.action_names),
            hands=self._input.viewer,
        )
        self._line.send(scene.model_dump_json())
