import type { ReviewedDecision } from "@/api/types";
import { capitalize } from "@/ui/format";
import { nameDecision } from "../futures/words";
import type { Thoughts } from "../track";
import classes from "./review.module.css";
import { describeMistake, type Mark, markOf } from "./words";

interface ReviewRibbonProps {
  thoughts: Thoughts;
  reviewed: readonly ReviewedDecision[];
  onDecision: (decision: number) => void;
}

const LABELS: Record<Mark, string> = { mistake: "Mistake", none: "No mistake shown", open: "Not finished" };

/** The reviewed decisions along the replay. Gaps were not looked at. Mistakes are buttons. */
export function ReviewRibbon({ thoughts, reviewed, onDecision }: ReviewRibbonProps) {
  const { pictures } = thoughts.head;
  const at = ({ decision }: ReviewedDecision) =>
    `${((((thoughts.picture[decision] ?? 0) + 0.5) / pictures) * 100).toFixed(3)}%`;
  return (
    <div>
      <div className={classes.ribbon} role="group" aria-label="Reviewed decisions">
        {reviewed.map((each) => {
          const mark = markOf(each);
          return mark === "mistake" ? (
            <button
              key={each.decision}
              type="button"
              className={classes.mark}
              data-mark={mark}
              style={{ left: at(each) }}
              title={describeMistake(each)}
              aria-label={`${capitalize(nameDecision(each.decision))}: ${describeMistake(each)}`}
              onClick={() => onDecision(each.decision)}
            />
          ) : (
            <span key={each.decision} className={classes.mark} data-mark={mark} style={{ left: at(each) }} />
          );
        })}
      </div>
      <ul className={classes.legend}>
        {(["mistake", "none", "open"] as const)
          .filter((mark) => reviewed.some((each) => markOf(each) === mark))
          .map((mark) => (
            <li key={mark} data-mark={mark}>
              {LABELS[mark]}
            </li>
          ))}
        <li>Gaps: not looked at</li>
      </ul>
    </div>
  );
}
