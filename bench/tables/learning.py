"""Tables of agents: their training and their evaluations."""

import math
import statistics
from typing import Any

import numpy as np

from arcadia_backend.suites import estimated_median, optimality_gap
from arcadia_workers.contract.games import score_bounds
from arcadia_workers.contract.inference.means import UNBOUNDED, Bounds, clustered_mean_error
from arcadia_workers.contract.inference.samples import interquartile_of_all, mean_of_means, median_of_means
from arcadia_workers.contract.published import atari_5_weights, scores
from bench.tables.cells import (
    NONE,
    group,
    listing,
    mean_interval,
    number,
    numbers,
    show,
    signed,
    with_deviation,
    with_interval,
)
from bench.tables.data import FAILED, Lines, Row, Rows, table

DQN_ZOO = "DQN Zoo (Quan and Ostrovski 2020)"
BREAKOUT = "ALE/Breakout-v5"
BEST_OF_THREE = "PAAC: best actor of three, 30 runs, up to 30 no-ops, no cap stated"
GA3C_GAMES = "GA3C: mean of 30 games after one day"
PAAC = "PAAC (Clemente et al. 2017)"
GORILA = "Gorila (Nair et al. 2015)"


def published(source: str, protocol: str, env: Any, player: str) -> float:
    """Return a published score."""
    wanted = (source, protocol, env, player)
    return next(row.score for row in scores() if (row.source, row.protocol, row.env, row.player) == wanted)


def counted(rows: Rows) -> tuple[Rows, list[str]]:
    """Return the runs that did not fail, and the cells with the number of all and of the failed ones."""
    failed = [row for row in rows if row["status"] == FAILED]
    return [row for row in rows if row not in failed], [str(len(rows)), str(len(failed))]


def each(rows: Rows, field: str, digits: int = 0) -> str:
    """Return the values of a column, in the order of the rows."""
    return "; ".join(NONE if row[field] is None else show(number(row[field]), digits) for row in rows)


def method_table(rows: Rows, threshold: float, digits: int = 1, bounds: Bounds = UNBOUNDED) -> Lines:
    lines = [
        [
            "preset",
            "runs",
            "failed",
            "mean of the last 100 at the end, 95 % interval",
            "lowest",
            f"steps until it passed {threshold:g}, each run",
            "steps",
            "seconds of training",
        ]
    ]
    for (preset,), runs in group(rows, "preset").items():
        ended, counts = counted(runs)
        final = numbers(ended, "final_mean")
        lines.append(
            [
                f"`{preset}`",
                *counts,
                mean_interval(final, digits, bounds),
                show(min(final, default=None), digits),
                each(runs, "passed_at"),
                show(max(numbers(ended, "steps"), default=None)),
                each(ended, "seconds"),
            ]
        )
    return lines


@table("cartpole.csv")
def cartpole(rows: Rows) -> Lines:
    return method_table(rows, 475, bounds=score_bounds("CartPole-v1"))


@table("cartpole-recorded.csv")
def cartpole_recorded(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "preset": "`{preset}`",
            "mean of the last 100 at the end": "{final_mean:.1f}",
            "steps until it passed 475": "{passed_at:,}",
            "steps": "{steps:,}",
            "seconds of training": "{seconds}",
        },
    )


@table("minigrid.csv")
def minigrid(rows: Rows) -> Lines:
    return method_table(rows, 0.9, digits=3)


@table("gorila-cartpole.csv")
def gorila_cartpole(rows: Rows) -> Lines:
    return method_table(rows, 475, bounds=score_bounds("CartPole-v1"))


@table("mujoco-a3c.csv")
def mujoco_a3c(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "task": "{task}",
            "run": "{run}",
            "steps": "{steps:,}",
            "best mean of 100": "{best_mean:,}",
            "at the end": "{final_mean:,}",
            "mean of 30 episodes, 95 %": lambda row: with_interval(
                row["evaluation"], row["evaluation_error"], 30, 1 if row["task"] == "Reacher" else 0
            ),
            "median": "{evaluation_median:,}",
        },
    )


@table("random-policy.csv")
def random_policy(rows: Rows) -> Lines:
    lines = [["game", "seeds", "episodes", "distinct", "mean", "95 % interval", "published (Gorila, table 4)"]]
    for (game,), episodes in group(rows, "game").items():
        measured = numbers(episodes, "score")
        # Equal episodes count as one cluster.
        keys = [(row["score"], row["length"]) for row in episodes]
        found = clustered_mean_error(measured, keys)
        interval = found and found.interval
        ends = " to ".join(show(end, 2) for end in interval) if interval else NONE
        counts = [str(len({row["seed"] for row in episodes})), str(len(measured)), str(len(set(keys)))]
        other = published(GORILA, "no-op-5min", f"ALE/{game}-v5", "random")
        lines.append([str(game), *counts, show(statistics.fmean(measured), 2), ends, show(other, 1)])
    return lines


@table("trained-episodes.csv")
def trained_episodes(rows: Rows) -> Lines:
    lines = [["agent", "run's seed", "episodes", "lowest", "mean", "highest", "longest episode"]]
    for (agent, seed), episodes in group(rows, "agent", "seed").items():
        found = numbers(episodes, "score")
        shown = [show(min(found), 2), show(statistics.fmean(found), 2), show(max(found), 2)]
        lines.append([str(agent), str(seed), str(len(found)), *shown, show(max(numbers(episodes, "length")))])
    return lines


@table("atari-5.csv")
def atari_5(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "game": "{game}",
            "steps/s": "{steps_per_second:,}",
            "mean of the last 100": "{final_mean:,}",
            "evaluation, mean, 95 %": lambda row: with_interval(
                row["evaluation"], row["evaluation_error"], 100, 2 if row["game"] == "Double Dunk" else 0
            ),
            "human-normalized": lambda row: show(normalized(row), 1, " %"),
        },
    )


def normalized(row: Row) -> float:
    """Return the human-normalized score of an evaluation in percent."""
    low, high = (published(DQN_ZOO, "no-op-30min", row["env"], player) for player in ("random", "human"))
    return 100 * (number(row["evaluation"]) - low) / (high - low)


@table("lunar-lander.csv")
def lunar_lander(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "network of V": "{value_network}",
            "seed": "{seed}",
            "mean of the last 100": milestone,
            "steps": "{steps:,}",
        },
    )


@table("atari-5.csv")
def atari_5_statistics(rows: Rows) -> Lines:
    tasks = [np.array([[normalized(row)]]) for row in rows]
    weights = {weight.env: weight.weight for weight in atari_5_weights()}
    found = {
        "median": median_of_means(tasks),
        "interquartile mean": interquartile_of_all(tasks),
        "mean": mean_of_means(tasks),
        "optimality gap": optimality_gap(tasks),
        "median over 57 games, estimated": estimated_median(
            tasks, np.array([weights[str(row["env"])] for row in rows])
        ),
    }
    lines = [["statistic of human-normalized scores", "value"]]
    return lines + [[name, show(value.item(), 1, " %")] for name, value in found.items()]


@table("breakout-run.csv")
def breakout_run(rows: Rows) -> Lines:
    return milestones(rows)


# What the events of a run's milestones are called.
EVENTS = {"passes": "passes", "best": "best:", "finished": "at the end:", "stopped": "when stopped:"}


def milestone(row: Row) -> str:
    """Return an event of a run and its mean return then."""
    return f"{EVENTS[str(row['event'])]} {signed(str(row['mean_return']))}"


def milestones(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "preset": "`{preset}`",
            "seed": "{seed}",
            "mean of the last 100": milestone,
            "steps": "{steps:,}",
            "emulator frames": lambda row: show(4 * number(row["steps"])),
            "minutes of training": "{minutes}",
        },
    )


def greedy_error(outcomes: Rows, count: int = 30) -> float:
    """Return the standard error of the mean of greedy episodes, whose outcomes are equally probable by their no-ops."""
    return statistics.pstdev(numbers(outcomes, "score")) / math.sqrt(count)


@table("breakout-evaluations.csv", "breakout-greedy.csv")
def breakout_evaluations(rows: Rows, outcomes: Rows) -> Lines:
    lines = listing(
        rows,
        {
            "agent": "{agent}",
            "acting": "{acting}",
            "mean of 30 episodes, 95 %": lambda row: with_interval(
                row["mean"], row["standard_error"] or greedy_error(outcomes), 30
            ),
            "median": "{median}",
            "distinct episodes": "{distinct_episodes}",
        },
    )
    others = [(GORILA, "no-op-5min", player) for player in ("random", "human", "DQN", "Gorila")]
    others.append((PAAC, BEST_OF_THREE, "PAAC arch_nips"))
    return lines + [
        [f"{player}: {source}", NONE, show(published(source, protocol, BREAKOUT, player), 1), NONE, NONE]
        for source, protocol, player in others
    ]


@table("breakout-greedy.csv")
def breakout_greedy(rows: Rows) -> Lines:
    lines = listing(rows, {"distinct episode": "{episode}", "score": "{score}"})
    return [*lines, ["standard error of a mean of 30 episodes", show(greedy_error(rows), 2)]]


@table("pong-runs.csv")
def pong_paac(rows: Rows) -> Lines:
    lines = [
        ["seed", "passes 0", "passes 10", "passes 18", "minutes until 18", "best mean of 100", "at the end, 5.0 M"]
    ]
    runs = group([row for row in rows if row["preset"] == "paac-pong"], "seed")
    for (seed,), found in runs.items():
        passed = {row["mean_return"]: row for row in found if row["event"] == "passes"}
        best, final = (next(row for row in found if row["event"] == event) for event in ("best", "finished"))
        steps = [show(number(passed[level]["steps"])) for level in (0, 10, 18)]
        shown = [show(number(best["mean_return"]), 2), show(number(final["mean_return"]), 2)]
        lines.append([str(seed), *steps, str(passed[18]["minutes"]), *shown])
    means = [mean_interval(numbers([row for row in rows if _is(row, event)], "steps"), 0) for event in (0, 10, 18)]
    ends = [
        mean_interval(numbers([row for row in rows if _is(row, event)], "mean_return"), 2)
        for event in ("best", "finished")
    ]
    return [*lines, ["mean, 95 % interval", *means, "", *ends]]


def _is(row: Row, event: int | str) -> bool:
    wanted = ("passes", event) if isinstance(event, int) else (event, row["mean_return"])
    return row["preset"] == "paac-pong" and (row["event"], row["mean_return"]) == wanted


@table("pong-runs.csv")
def pong_methods(rows: Rows) -> Lines:
    others = [row for row in rows if row["preset"] not in ("paac-pong", "gorila-laptop")]
    return milestones([row for row in others if row["event"] != "at"])


@table("pong-runs.csv")
def pong_gorila(rows: Rows) -> Lines:
    return milestones([row for row in rows if row["preset"] == "gorila-laptop"])


@table("pong-evaluations.csv")
def pong_evaluations(rows: Rows) -> Lines:
    lines = listing(
        rows,
        {
            "preset": "`{preset}`",
            "seed": "{seed}",
            "acting": "{acting}",
            "mean of 30 episodes, 95 %": lambda row: with_interval(row["mean"], row["standard_error"], 30, 2),
            "median": "{median}",
        },
    )
    others = (("GA3C", GA3C_GAMES), ("A3C FF", "human-starts"), ("PAAC arch_nips", BEST_OF_THREE))
    return lines + [
        [f"{player}: {PAAC}", NONE, protocol.removeprefix("PAAC: ").removeprefix("GA3C: "), show(score, 1), NONE]
        for player, protocol in others
        for score in [published(PAAC, protocol, "ALE/Pong-v5", player)]
    ]


@table("ppo-pong.csv")
def ppo_pong(rows: Rows) -> Lines:
    lines = listing(
        rows,
        {
            "seed": "{seed}",
            "passes 0": "{passes_0:,}",
            "passes 10": "{passes_10:,}",
            "passes 18": "{passes_18:,}",
            "stopped at": "{steps:,}",
            "mean of the last 100": "{final_mean:.2f}",
            "sampled, 95 %": lambda row: with_interval(row["sampled_mean"], row["sampled_error"], 30, 2),
            "greedy, 95 %": lambda row: with_interval(row["greedy_mean"], row["greedy_error"], 30, 2),
        },
    )
    passed = [mean_interval(numbers(rows, f"passes_{level}"), 0) for level in (0, 10, 18)]
    return [*lines, ["mean, 95 % interval", *passed, "", "", "", ""]]


@table("ppo-mujoco-one-run.csv")
def ppo_mujoco_one_run(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "task": "{task}",
            "runs": lambda _: "1",
            "failed": lambda _: "0",
            "mean of the last 100": "{final_mean:,}",
            "best mean of 100": "{best_mean:,}",
            "mean of 30 episodes, 95 %": lambda row: with_interval(row["evaluation"], row["evaluation_error"], 30, 0),
        },
    )


@table("ppo-mujoco.csv", "published-mujoco.csv")
def ppo_mujoco(rows: Rows, published: Rows) -> Lines:
    lines = [["task", "runs", "failed", "mean, 95 % t-interval", "CleanRL", "SB3"]]
    for (task,), runs in group(rows, "task").items():
        ended, counts = counted(runs)
        name = str(task).partition("-v")[0]
        others = {row["source"]: row for row in published if str(row["task"]).partition("-v")[0] == name}
        shown = [
            with_deviation(others[source]["mean"], others[source]["deviation"]) if source in others else NONE
            for source in ("CleanRL", "SB3")
        ]
        lines.append([str(task), *counts, mean_interval(numbers(ended, "final_return"), 0), *shown])
    return lines
