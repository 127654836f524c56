import { Tooltip } from "@mantine/core";
import type { MetricValue } from "@/api/types";
import { ago, exact, exactTime, isSize, measured, rate, short } from "./format";
import { useNow } from "./useNow";

function Exactly({ exactly, children }: { exactly: string; children: string }) {
  return (
    <Tooltip label={exactly}>
      <span>{children}</span>
    </Tooltip>
  );
}

/** "1.2 M steps", all digits on hover. */
export function Short({ value, unit = "" }: { value: number | null; unit?: string }) {
  return <Exactly exactly={exact(value, unit)}>{short(value, unit)}</Exactly>;
}

/** "4.1 k/s", all digits on hover. */
export function Rate({ value, unit = "steps/s" }: { value: number | null; unit?: string }) {
  return <Exactly exactly={exact(value, unit)}>{rate(value)}</Exactly>;
}

interface ScoreProps {
  value: MetricValue | null;
  meaning: string;
  /** Of the catalogue of metrics. */
  unit?: string;
}

/** A return or another metric's value, all digits on hover. */
export function Score({ value, meaning, unit = "" }: ScoreProps) {
  const digits = typeof value === "number" ? exact(value, isSize(unit) ? unit : "") : (value ?? "none yet");
  return <Exactly exactly={`${meaning}: ${digits}`}>{measured(value, unit)}</Exactly>;
}

/** "5 min ago", the local time on hover. */
export function TimeAgo({ time }: { time: string | null }) {
  const now = useNow();
  if (!time) return <span>–</span>;
  return (
    <Tooltip label={exactTime(time)}>
      <time dateTime={time}>{ago(time, Math.max(now, Date.parse(time)))}</time>
    </Tooltip>
  );
}
