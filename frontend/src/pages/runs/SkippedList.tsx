import { List, ScrollArea, Text } from "@mantine/core";
import type { SkippedRun } from "@/run-actions/eligibility";
import { plural } from "@/ui/format";

/** List of the runs that an action skips, with reasons. */
export function SkippedList({ skipped }: { skipped: readonly SkippedRun[] }) {
  if (skipped.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={500}>
        {plural(skipped.length, "run")} will be skipped:
      </Text>
      <ScrollArea.Autosize mah={200}>
        <List size="sm">
          {skipped.map(({ run, reason }) => (
            <List.Item key={run.id}>
              {run.name} #{run.id}: {reason}
            </List.Item>
          ))}
        </List>
      </ScrollArea.Autosize>
    </div>
  );
}
