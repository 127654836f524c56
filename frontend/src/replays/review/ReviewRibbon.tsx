import { type CSSProperties, type ReactNode, useSyncExternalStore } from "react";
import type { ReviewedDecision } from "@/api/types";
import { capitalize } from "@/ui/format";
import type { Playhead } from "../clock";
import { nameDecision } from "../futures/words";
import type { Thoughts } from "../track";
import classes from "./review.module.css";
import { describeMistake, lossOf, type Mark, markOf } from "./words";

interface ReviewRibbonProps {
  reviewed: readonly ReviewedDecision[];
  /** Return the place of a decision in the replay, from 0 to 1. */
  place: (decision: number) => number;
  /** The mistake whose moment is open. */
  chosen?: number | null;
  /** Without it, mistakes are no buttons. */
  onChoose?: (decision: number) => void;
  children?: ReactNode;
}

const LABELS: Record<Mark, string> = { mistake: "Mistake", none: "No mistake shown", open: "Not finished" };

/** Height of a mistake in pixels, from a small loss to the largest one. */
const [LOW, HIGH] = [14, 30];

/** The reviewed decisions along the replay. Gaps were not looked at. Mistakes are buttons. */
export function ReviewRibbon({ reviewed, place, chosen = null, onChoose, children }: ReviewRibbonProps) {
  const largest = Math.max(0, ...reviewed.map(lossOf));
  const styleOf = (each: ReviewedDecision): CSSProperties => {
    const left = `${(place(each.decision) * 100).toFixed(3)}%`;
    if (markOf(each) !== "mistake") return { left };
    const share = largest > 0 ? lossOf(each) / largest : 0;
    return { left, height: LOW + (HIGH - LOW) * share };
  };
  return (
    <div className={classes.colors}>
      <div className={classes.ribbon} role="group" aria-label="Reviewed decisions">
        {reviewed.map((each) => {
          const mark = markOf(each);
          const shared = { className: classes.mark, "data-mark": mark, style: styleOf(each) };
          return mark === "mistake" && onChoose ? (
            <button
              key={each.decision}
              type="button"
              aria-pressed={each.decision === chosen}
              title={describeMistake(each)}
              aria-label={`${capitalize(nameDecision(each.decision))}: ${describeMistake(each)}`}
              onClick={() => onChoose(each.decision)}
              {...shared}
            />
          ) : (
            <span key={each.decision} {...shared} />
          );
        })}
        {children}
      </div>
      <ul className={classes.legend}>
        {(["mistake", "none", "open"] as const)
          .filter((mark) => reviewed.some((each) => markOf(each) === mark))
          .map((mark) => (
            <li key={mark} data-mark={mark}>
              {LABELS[mark]}
              {mark === "mistake" && ", as high as its loss"}
            </li>
          ))}
        <li data-mark="gap">Not looked at</li>
      </ul>
    </div>
  );
}

interface RibbonCursorProps {
  thoughts: Thoughts;
  head: Playhead;
}

/** The place of the shown picture on a ribbon. */
export function RibbonCursor({ thoughts, head }: RibbonCursorProps) {
  const { pictures, pictures_per_second } = thoughts.head;
  const place = useSyncExternalStore(head.watch, () =>
    Math.min(1, (head.seconds * pictures_per_second) / pictures).toFixed(3),
  );
  return <span className={classes.cursor} style={{ left: `${Number(place) * 100}%` }} aria-hidden />;
}

/** Return the place of a decision in a replay, by its picture. */
export const placeIn =
  ({ picture, head }: Thoughts) =>
  (decision: number) =>
    ((picture[decision] ?? 0) + 0.5) / head.pictures;
