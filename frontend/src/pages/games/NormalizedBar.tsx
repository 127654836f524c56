import type { RunScore } from "@/api/types";
import { exact, humanPercent } from "@/ui/format";
import classes from "./games.module.css";
import { BAR_END, barShare } from "./wall";

type Score = Pick<RunScore, "protocol" | "human_normalized" | "normalized_by" | "not_normalized_because">;

/** The human-normalized score as a bar up to 200 %, with a tick at the human score. */
export function NormalizedBar({ score }: { score: Score }) {
  const { human_normalized: percent, normalized_by: by } = score;
  if (!by)
    return (
      <p
        className={classes.under}
        title={`No human-normalized score: ${score.not_normalized_because ?? ""}.`}
      >
        <span className={classes.dim}>Not human-normalized</span>
        <span className={classes.protocol}>{score.protocol}</span>
      </p>
    );
  const share = barShare(percent);
  const exactly = typeof percent === "number" ? exact(percent, "%") : percent;
  return (
    <div
      className={classes.normalized}
      title={`${exactly} of the human score, with random at 0 (${by.source}, ${by.table})`}
    >
      <div className={classes.bar} data-above={share >= 0.5 || undefined} aria-hidden>
        <div className={classes.fill} style={{ width: `${share * 100}%` }} />
        <div className={classes.tick} style={{ left: `${(100 / BAR_END) * 100}%` }} />
      </div>
      <p className={classes.under}>
        <span className={classes.percent}>
          {humanPercent(percent)}
          <span className={classes.dim}> of human</span>
        </span>
        <span className={classes.protocol}>{score.protocol}</span>
      </p>
    </div>
  );
}
