"""Write a row for each review of a trained agent: `python -m bench.reviewed_agents FILE… --csv FILE`.

The files are those of `arcadia review --json`.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.review import ReviewDocument
from bench.raw_values import add_csv_option, write_rows


def row_of(document: ReviewDocument) -> dict[str, Any]:
    """Return what a review found."""
    mistakes = [each for each in document.reviewed if each.finding == "mistake"]
    reasons = Counter(each.reason for each in mistakes)
    losses = [each.loss.mean for each in mistakes if each.loss is not None and each.loss.mean is not None]
    return {
        "method": document.algorithm,
        "game": ENVIRONMENTS[document.env].title,
        "step": document.checkpoint_step,
        "seed": document.seed,
        "episode": document.episode,
        "score": f"{document.score:g}",
        "decisions": document.decisions,
        "reviewed": len(document.reviewed),
        "mistakes": len(mistakes),
        "before_a_loss": reasons["lost"],
        "improbable": reasons["unlikely"],
        "unsure": reasons["unsure"],
        "situations": len(document.situations),
        "largest_loss": f"{max(losses):.3f}" if losses else "",
        "sum_of_losses": f"{sum(losses):.3f}",
        "futures": document.simulations,
        "seconds": f"{document.seconds:.0f}",
    }


def main() -> None:
    """Print and write the rows."""
    parser = argparse.ArgumentParser(prog="python -m bench.reviewed_agents", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    add_csv_option(parser)
    options = parser.parse_args()
    rows = [row_of(ReviewDocument.model_validate_json(path.read_text())) for path in options.files]
    for row in rows:
        print(row)
    write_rows(options.csv, rows)


if __name__ == "__main__":
    main()
