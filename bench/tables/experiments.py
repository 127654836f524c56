"""Tables of experiments: simulated reviews, critics, memory in the Labyrinth, dead units, and the papers' figures."""

from typing import Any

import numpy as np

from arcadia_workers.contract.inference.losses import MARGIN
from arcadia_workers.contract.inference.means import welch
from bench.tables.cells import NONE, group, listing, mean_interval, number, numbers, show, values, with_interval
from bench.tables.data import Compute, Lines, Row, Rows, table


def bias(row: Row) -> str:
    """Return a bias with its interval."""
    mean, low, high = (show(number(row[field]), 2) for field in ("bias", "bias_low", "bias_high"))
    return f"{mean} ({low} to {high})"


def critic_table(rows: Rows, game: str, digits: int = 1) -> Lines:
    return listing(
        [row for row in rows if row["game"] == game],
        {
            "method": "{method}",
            "steps": "{step:,}",
            "mean of the last 100": lambda row: (
                NONE if row["mean_return"] is None else show(number(row["mean_return"]), digits)
            ),
            "bias, 95 %": bias,
            # The RMSE of that version subtracted noise from the bias too, so it could be smaller.
            "RMSE": lambda row: show(max(number(row["rmse"]), abs(number(row["bias"]))), 2),
            "correlation": "{correlation:.2f}",
        },
    )


@table("critics.csv")
def critics_pong(rows: Rows) -> Lines:
    return critic_table(rows, "Pong")


@table("critics.csv")
def critics_breakout(rows: Rows) -> Lines:
    return critic_table(rows, "Breakout")


@table("critics.csv")
def critics_cartpole(rows: Rows) -> Lines:
    return critic_table(rows, "CartPole", 0)


AGENTS = ("256 LSTM cells", "feed-forward")
INTERVALS = ("mean_100k", "mean_200k", "mean_300k", "mean_400k", "mean_500k", "final_mean")


@table("labyrinth-memory.csv")
def labyrinth_training(rows: Rows) -> Lines:
    lines = [["agent, seed", "to 100,000 steps", "200,000", "300,000", "400,000", "500,000", "the last 100"]]
    for (agent,), runs in group(rows, "agent").items():
        lines += [[f"{agent}, {run['seed']}", *(show(number(run[name]), 1) for name in INTERVALS)] for run in runs]
        lines.append([f"{agent}, mean, 95 %", *(mean_interval(numbers(runs, name)) for name in INTERVALS)])
    return [*lines, ["difference, 95 %", *(_difference(rows, name) for name in INTERVALS)]]


@table("labyrinth-memory.csv")
def labyrinth_evaluations(rows: Rows) -> Lines:
    lines = [["agent", "seed 1", "seed 2", "seed 3", "mean of the runs, 95 %"]]
    for (agent,), runs in group(rows, "agent").items():
        shown = [with_interval(run["evaluation"], run["evaluation_error"], 100) for run in runs]
        lines.append([str(agent), *shown, mean_interval(numbers(runs, "evaluation"))])
    return [*lines, ["difference, 95 %", "", "", "", _difference(rows, "evaluation")]]


def _difference(rows: Rows, name: str) -> str:
    memory, other = (np.array(numbers([row for row in rows if row["agent"] == agent], name)) for agent in AGENTS)
    found = welch(memory, other)
    if found is None:
        return NONE
    return f"{show(found.mean, 1)} ({show(found.low, 1)} to {show(found.high, 1)})"


def percent(*cells: Any) -> str:
    """Return shares in percent."""
    return ", ".join(f"{100 * float(cell):.0f} %" for cell in cells)


def _dead(row: Row) -> str:
    return percent(row["first_filters"], row["second_filters"], row["hidden_units"])


@table("blindness-centered.csv")
def blindness_centered(rows: Rows) -> Lines:
    return listing(
        rows, {"centered": "{centered}", "steps": "{steps:,}", "dead": _dead, "spread of V": "{spread_of_v:.3f}"}
    )


@table("dead-cells.csv")
def dead_cells(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "initial weights": "{initial_weights}",
            "rate": "{learning_rate}",
            "ε": lambda row: f"{number(row['epsilon']):.0e}".replace("e-0", "e-"),
            "steps": "{steps:,}",
            "dead cells": lambda row: percent(row["dead_cells"]),
            "spread of V": "{spread_of_v:.3f}",
            "mean of the features": "{mean_of_features}",
            "mean of 100": "{final_mean}",
        },
    )


@table("blindness-presets.csv")
def blindness_presets(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "preset": "`{preset}`",
            "steps": "{steps:,}",
            "of these, learned": "{steps_learned:,}",
            "dead, by layer": lambda row: percent(*values(row["dead_by_layer"])),
            "spread of V or of the highest Q": "{spread:.3f}",
        },
    )


@table("blindness-paper.csv")
def blindness_paper(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "steps": "{steps:,}",
            "dead": _dead,
            "spread of V": "{spread_of_v:.3f}",
            "mean of 100": lambda row: show(number(row["mean_return"]), 1),
        },
    )


@table("paac-figure-2.csv")
def paac_figure_2(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "network": "`{network}`",
            "n_e": "{environments}",
            "environments": lambda row: percent(row["environments_share"]),
            "selection": lambda row: percent(row["selection_share"]),
            "learning": lambda row: percent(row["learning_share"]),
        },
    )


@table("a3c-table-2.csv")
def a3c_table_2(rows: Rows) -> Lines:
    def pair(game: str) -> Any:
        return lambda row: NONE if row[f"{game}_1"] is None else f"{row[f'{game}_1']:,} and {row[f'{game}_2']:,}"

    def faster(game: str) -> Any:
        return lambda row: NONE if row[f"{game}_1"] is None else show(row[f"{game}_2"] / row[f"{game}_1"], 1)

    return listing(
        rows,
        {
            "method": "{method}",
            "paper, 2 threads": "{paper_speed_up}",
            "speed-up to a score": "{speed_up_to_score}",
            "games": "{games}",
            "CartPole, steps/s with 1 and 2": pair("cartpole"),
            "ratio": faster("cartpole"),
            "Pong, steps/s with 1 and 2": pair("pong"),
            "ratio ": faster("pong"),
        },
    )


@table("ga3c-table-2.csv")
def ga3c_table_2(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "network": "`{network}`",
            "GA3C, steps/s": "{ga3c}",
            "over the environments alone": "{ga3c_ratio}",
            "A3C, steps/s": "{a3c}",
            "over the environments alone ": "{a3c_ratio}",
        },
    )


# Pages and sections with results of earlier versions, of which only a summary is kept.
EARLIER = (
    "pong breakout mujoco blindness gpu labyrinth times evaluation live idle gorila run_table speed storm suite papers"
)


def earlier(page: str) -> Compute:
    """Return the function that computes the table of earlier results of a page."""

    def compute(rows: Rows) -> Lines:
        return listing([row for row in rows if row["page"] == page], {"what": "{what}", "result": "{result}"})

    compute.__name__ = f"earlier_{page}"
    return compute


for _page in EARLIER.split():
    table("earlier.csv")(earlier(_page))


TRUE_LOSSES = ("0.02", "0.1", "0.3", "0.6", "1", "2")


@table("reviews.csv")
def simulated_reviews(rows: Rows) -> Lines:
    """Show how many of the shown mistakes are false, and how often the measured loss covers the true one."""
    return listing(
        rows,
        {
            "environment": "{environment}",
            "first actions": "{actions}",
            "false at the end": lambda row: f"{number(row['false_at_end']):.2%}",
            "false at the first mistake": lambda row: f"{number(row['false_at_first']):.2%}",
            "losses covered": _covered,
            "futures of a review": lambda row: show(number(row["futures"])),
        },
    )


@table("reviews.csv")
def found_mistakes(rows: Rows) -> Lines:
    """Show how many of the decisions were shown as mistakes, by their true loss."""
    shown = [row for row in rows if row["actions"] == "unequal"]
    lines = [["environment", *(f"loss up to {size}" for size in TRUE_LOSSES)]]
    for row in shown:
        counts = [(number(row[f"found_to_{size}"]), number(row[f"decisions_to_{size}"])) for size in TRUE_LOSSES]
        cells = [f"{found / of:.1%} of {show(of)}" if of else NONE for found, of in counts]
        lines.append([str(row["environment"]), *cells])
    return lines


def _covered(row: Row) -> str:
    measured = number(row["losses_measured"])
    return f"{number(row['losses_covered']) / measured:.1%} of {show(measured)}" if measured else NONE


@table("confirmed-mistakes.csv")
def confirmed_mistakes(rows: Rows) -> Lines:
    """Show how many decisions of a kind lose more than the margin in fresh futures, and how large the loss is."""
    lines = [["decisions", "number", "above the margin", "surely above the margin", "mean loss", "smallest loss"]]
    for (kind,), found in group(rows, "kind").items():
        losses = [number(row["loss"]) for row in found]
        sure = sum(number(row["loss"]) - number(row["half_width"]) > MARGIN for row in found)
        counts = [str(len(found)), str(sum(loss > MARGIN for loss in losses)), str(sure)]
        lines.append([str(kind), *counts, show(sum(losses) / len(losses), 2), show(min(losses), 2)])
    return lines


@table("practice-breakout.csv")
def practice_breakout(rows: Rows) -> Lines:
    """Show the scores of both arms, and the outcome at the mistake that was not practiced."""
    return listing(
        rows,
        {
            "arm": "{arm}",
            "steps": "{steps:,}",
            "mean score": lambda row: show(float(np.mean(values(row["scores"]))), 1),
            "outcome at the kept mistake": "{outcome}",
        },
    )


@table("reviewed-agents.csv")
def reviewed_agents(rows: Rows) -> Lines:
    """Show what reviews of trained agents found."""
    return listing(
        rows,
        {
            "agent": lambda row: f"{str(row['method']).upper()} on {row['game']}",
            "seed": "{seed}",
            "score": "{score}",
            "decisions": "{decisions}",
            "reviewed": "{reviewed}",
            "mistakes": "{mistakes}",
            "before a loss": "{before_a_loss}",
            "improbable": "{improbable}",
            "unsure": "{unsure}",
            "largest loss": lambda row: show(number(row["largest_loss"]), 2) if row["largest_loss"] else NONE,
            "futures": lambda row: show(number(row["futures"])),
        },
    )
