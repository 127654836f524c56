import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { failuresQuery } from "@/api/runs";
import { plural } from "@/ui/format";
import classes from "./runs.module.css";
import { failuresOf, type RunsView } from "./view";

interface FailureGroupsProps {
  view: RunsView;
  /** Shows only the failed runs with this text. */
  onChoose: (text: string) => void;
}

/** One button for each failure that several runs of the list ended with; it shows them alone. */
export function FailureGroups({ view, onChoose }: FailureGroupsProps) {
  const { data = [] } = useQuery(failuresQuery(failuresOf(view)));
  // The group that is shown alone would lead nowhere.
  const groups = data.filter(({ message }) => message !== view.text.trim());
  if (groups.length === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label="Runs that failed alike">
      {groups.map(({ message, runs }) => (
        <Button
          key={message}
          size="compact-sm"
          variant="default"
          maw="100%"
          title={message}
          onClick={() => onChoose(message)}
        >
          <span className={classes.clip}>
            {plural(runs, "run")} failed: {message}
          </span>
        </Button>
      ))}
    </Group>
  );
}
