import { Button, Group } from "@mantine/core";
import type { Run } from "@/api/types";
import { plural } from "@/ui/format";
import classes from "./runs.module.css";

/** So many runs with one failure are a group. */
const FEWEST = 3;
/** The longest text that the server searches for. */
const LONGEST = 200;

interface FailureGroupsProps {
  runs: readonly Run[];
  /** The text that is searched for: its own group would lead nowhere. */
  text: string;
  /** Shows only the failed runs with this text. */
  onChoose: (text: string) => void;
}

/** One button for each failure that several of the listed runs ended with; it shows them alone. */
export function FailureGroups({ runs, text, onChoose }: FailureGroupsProps) {
  const groups = failureGroups(runs).filter(({ message }) => message !== text);
  if (groups.length === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label="Runs that failed alike">
      {groups.map(({ message, count }) => (
        <Button
          key={message}
          size="compact-sm"
          variant="default"
          maw="100%"
          title={message}
          onClick={() => onChoose(message)}
        >
          <span className={classes.clip}>
            {plural(count, "run")} failed: {message}
          </span>
        </Button>
      ))}
    </Group>
  );
}

/** The failures that several runs share, by their first line; the most frequent one first. */
function failureGroups(runs: readonly Run[]): { message: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { state, failure } of runs) {
    const message = failure?.message.trim().split("\n")[0]?.slice(0, LONGEST).trim();
    if (state === "failed" && message) counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  const groups = [...counts].map(([message, count]) => ({ message, count }));
  return groups.filter(({ count }) => count >= FEWEST).sort((a, b) => b.count - a.count);
}
