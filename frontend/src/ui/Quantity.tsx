import type { MetricValue } from "@/api/types";
import { ago, exact, exactTime, isSize, measured, rate, short } from "./format";
import { hint } from "./Hint";
import { useNow } from "./useNow";

function ExactOnHover({ exactValue, children }: { exactValue: string; children: string }) {
  return <span {...hint(exactValue)}>{children}</span>;
}

/** A short number such as "1.2 M steps", with all digits on hover. */
export function Short({ value, unit = "" }: { value: number | null; unit?: string }) {
  return <ExactOnHover exactValue={exact(value, unit)}>{short(value, unit)}</ExactOnHover>;
}

/** A rate such as "4.1 k/s", with all digits on hover. */
export function Rate({ value, unit = "steps/s" }: { value: number | null; unit?: string }) {
  return <ExactOnHover exactValue={exact(value, unit)}>{rate(value)}</ExactOnHover>;
}

interface ScoreProps {
  value: MetricValue | null;
  meaning: string;
  /** Unit in the metric catalog. */
  unit?: string;
}

/** A return or another metric value, with all digits on hover. */
export function Score({ value, meaning, unit = "" }: ScoreProps) {
  const exactDigits =
    typeof value === "number" ? exact(value, isSize(unit) ? unit : "") : (value ?? "none yet");
  return <ExactOnHover exactValue={`${meaning}: ${exactDigits}`}>{measured(value, unit)}</ExactOnHover>;
}

/** A relative time such as "5 min ago", with the local time on hover. */
export function TimeAgo({ time }: { time: string | null }) {
  const now = useNow();
  if (!time) return <span>–</span>;
  return (
    <time dateTime={time} {...hint(exactTime(time))}>
      {ago(time, Math.max(now, Date.parse(time)))}
    </time>
  );
}
