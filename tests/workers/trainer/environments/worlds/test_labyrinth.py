"""Tests for Labyrinth: mazes, walls, apples, the portal, the time limit, and the picture."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from arcadia_workers.trainer.environments.worlds import labyrinth
from arcadia_workers.trainer.environments.worlds.labyrinth import (
    APPLE,
    CELLS,
    FORWARD,
    GIRTH,
    MOVES,
    PORTAL,
    STEPS,
    STRAFE_RIGHT,
    TURN_RIGHT,
    Eye,
    Labyrinth,
    Maze,
    Placed,
    Pose,
    dig,
)
from tests.workers.trainer.environments.worlds import literal_eye


def reached(walls: NDArray[np.bool_]) -> int:
    """Return the number of cells that can be reached from the first open one."""
    start = tuple(np.argwhere(~walls)[0].tolist())
    seen, waiting = {start}, [start]
    while waiting:
        y, x = waiting.pop()
        for cell in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)):
            if not walls[cell] and cell not in seen:
                seen.add(cell)
                waiting.append(cell)
    return len(seen)


def entered(seed: int) -> Labyrinth:
    world = Labyrinth()
    world.reset(seed=seed)
    return world


def act(world: Labyrinth, action: int | np.int64) -> float:
    return world.step(np.int64(action))[1]


@pytest.mark.parametrize("seed", range(30))
def test_mazes_are_connected_and_enclosed_and_have_rooms_and_corridors(seed: int) -> None:
    walls = dig(np.random.default_rng(seed)).walls
    assert reached(walls) == (~walls).sum()
    assert walls[[0, -1]].all()
    assert walls[:, [0, -1]].all()
    open_cells = ~walls
    neighbors = open_cells[2:, 1:-1].astype(int) + open_cells[:-2, 1:-1] + open_cells[1:-1, 2:] + open_cells[1:-1, :-2]
    inside = open_cells[1:-1, 1:-1]
    assert (neighbors[inside] == 4).any()  # the middle of a room
    assert (neighbors[inside] <= 2).sum() > 20


def test_each_episode_has_a_new_maze_and_a_seed_repeats_them() -> None:
    def episodes(seed: int) -> list[bytes]:
        world, reported = Labyrinth(), []
        for episode in range(3):
            seen, _ = world.reset(seed=seed if episode == 0 else None)
            reported.append(world.maze.walls.tobytes() + seen.tobytes())
            reported += [world.step(np.int64(action))[0].tobytes() for action in (0, 1, 3)]
        return reported

    assert episodes(4) == episodes(4)
    assert len(set(episodes(4))) == 12
    assert not set(episodes(4)) & set(episodes(5))


@pytest.mark.parametrize("seed", range(5))
def test_players_cannot_walk_into_walls(seed: int) -> None:
    world, random = entered(seed), np.random.default_rng(seed)
    visited = set()
    for _ in range(60):
        action = random.integers(len(MOVES))
        for _ in range(random.integers(1, 15)):
            act(world, action)
            x, y = world.player.x, world.player.y
            assert not any(world.maze.walls[int(y + dy), int(x + dx)] for dx in (-0.2, 0.2) for dy in (-0.2, 0.2))
            visited.add((int(x), int(y)))
    assert len(visited) > 5


def test_a_player_stops_at_a_wall_ahead_and_slides_along_a_wall_at_an_angle() -> None:
    world = entered(1)
    walls = np.ones((CELLS, CELLS), dtype=np.bool_)
    walls[5, 1:-1] = False  # one corridor along x
    world.maze = Maze(walls, np.zeros_like(walls, dtype=np.int64))
    world.portal, world.apples_left = Placed(PORTAL, 1.5, 5.5), []
    world.player = Pose(6.0, 5.5, math.pi / 2)  # looks at the wall
    for _ in range(20):
        act(world, FORWARD)
    assert world.player.x == pytest.approx(6.0)
    assert 6 - GIRTH - labyrinth.STRIDE <= world.player.y <= 6 - GIRTH
    world.player.heading = math.pi / 4
    for _ in range(5):
        act(world, FORWARD)
    assert world.player.x == pytest.approx(6.0 + 5 * 4 * labyrinth.STRIDE * math.cos(math.pi / 4))


def test_walking_turning_and_strafing_move_the_player_as_named() -> None:
    world = entered(1)
    walls = np.ones((CELLS, CELLS), dtype=np.bool_)
    walls[1:-1, 1:-1] = False
    world.maze = Maze(walls, np.zeros_like(walls, dtype=np.int64))
    world.portal, world.apples_left = Placed(PORTAL, 1.5, 1.5), []
    world.player = Pose(6.5, 6.5, 0.0)
    act(world, FORWARD)
    assert (world.player.x, world.player.y) == pytest.approx((6.5 + 1 / 3, 6.5))  # 5 cells a second
    act(world, STRAFE_RIGHT)
    assert (world.player.x, world.player.y) == pytest.approx((6.5 + 1 / 3, 6.5 + 1 / 3))
    for _ in range(15):  # a second
        act(world, TURN_RIGHT)
    assert world.player.heading == pytest.approx(math.radians(240))


def test_an_apple_gives_a_reward_once_and_disappears() -> None:
    world = entered(2)
    apple = world.apples[0]
    alone = [other for other in world.apples if math.hypot(other.x - apple.x, other.y - apple.y) < 2]
    assert alone == [apple]
    world.player = Pose(apple.x, apple.y, 0.0)
    before = world.step(np.int64(TURN_RIGHT))
    assert before[1] == 1.0
    assert apple not in world.apples_left
    assert len(world.apples_left) == labyrinth.APPLES - 1
    assert [act(world, TURN_RIGHT) for _ in range(5)] == [0.0] * 5


def test_the_portal_gives_ten_points_moves_the_player_and_restores_the_apples() -> None:
    world = entered(3)
    places = set()
    for _ in range(6):
        apple = world.apples[0]
        world.player = Pose(apple.x, apple.y, 0.0)
        assert act(world, TURN_RIGHT) == 1.0
        world.player = Pose(world.portal.x, world.portal.y, 0.0)
        assert world.step(np.int64(TURN_RIGHT))[1:4] == (10.0, False, False)
        assert world.apples_left == world.apples
        assert math.hypot(world.player.x - world.portal.x, world.player.y - world.portal.y) > 0.5
        assert not world.maze.walls[int(world.player.y), int(world.player.x)]
        places.add((int(world.player.x), int(world.player.y)))
    assert len(places) > 2


def test_things_are_in_separate_open_cells() -> None:
    for seed in range(20):
        world = entered(seed)
        places = [(int(item.x), int(item.y)) for item in [world.portal, *world.apples]]
        assert len(set(places)) == 1 + labyrinth.APPLES
        assert not any(world.maze.walls[y, x] for x, y in places)
        assert (int(world.player.x), int(world.player.y)) not in places


def test_an_episode_is_truncated_after_sixty_seconds() -> None:
    world = entered(1)
    ends = [world.step(np.int64(TURN_RIGHT))[2:4] for _ in range(STEPS)]
    assert STEPS * labyrinth.FRAMES_PER_STEP / labyrinth.FRAMES_PER_SECOND == 60
    assert ends == [(False, False)] * (STEPS - 1) + [(False, True)]


@pytest.mark.parametrize("seed", range(4))
def test_the_picture_equals_that_of_a_literal_ray_caster(seed: int) -> None:
    random = np.random.default_rng(seed)
    maze, side = dig(random), 42
    x, y = maze.open_cells[random.integers(len(maze.open_cells))] + random.uniform(0.3, 0.7, 2)
    headings = random.uniform(0, 2 * math.pi, 16)
    heading = max(headings, key=lambda way: literal_eye.first_wall(maze, (x, y), (math.cos(way), math.sin(way)))[0])
    # Things beside, in front of and behind each other and the walls.
    placed = [
        Placed(thing, x + reach * math.cos(heading + turn), y + reach * math.sin(heading + turn))
        for thing, reach, turn in (
            (APPLE, 0.6, 0.2),
            (PORTAL, 1.1, 0.1),
            (APPLE, 1.3, -0.3),
            (PORTAL, 2.5, 0),
            (APPLE, 1, 3),
        )
    ]
    ours = Eye(side).look(maze, x, y, heading, placed)
    literal = literal_eye.picture(maze, x, y, heading, placed, side)
    # Pixels on an edge may differ by rounding.
    assert (np.abs(ours.astype(int) - literal).max(axis=0) > 1).mean() < 0.002
    assert len(np.unique(ours.reshape(3, -1), axis=1).T) > 30


def test_an_apple_behind_a_wall_is_invisible() -> None:
    walls = np.ones((CELLS, CELLS), dtype=np.bool_)
    walls[5, 1:4] = walls[5, 5:8] = False
    maze = Maze(walls, np.zeros_like(walls, dtype=np.int64))
    eye = Eye(84)
    empty = eye.look(maze, 1.5, 5.5, 0.0, [])
    assert (eye.look(maze, 1.5, 5.5, 0.0, [Placed(APPLE, 6.0, 5.5)]) == empty).all()
    assert (eye.look(maze, 1.5, 5.5, 0.0, [Placed(APPLE, 3.0, 5.5)]) != empty).any()
