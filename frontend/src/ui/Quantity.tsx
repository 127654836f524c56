import { Tooltip } from "@mantine/core";
import type { MetricValue } from "@/api/types";
import { ago, exact, exactTime, rate, score, short } from "./format";
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

/** A return, all digits on hover. */
export function Score({ value, meaning }: { value: MetricValue | null; meaning: string }) {
  const digits = typeof value === "number" ? exact(value) : (value ?? "none yet");
  return <Exactly exactly={`${meaning}: ${digits}`}>{score(value)}</Exactly>;
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
