import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { failuresQuery } from "@/api/runs";
import { useCurrentProject } from "@/ui/currentProject";
import { plural } from "@/ui/format";
import classes from "./runs.module.css";
import { toFailuresQuery, type RunsView } from "./view";

interface FailureGroupsProps {
  view: RunsView;
  /** Called with the failure message to filter by. */
  onChoose: (text: string) => void;
}

/** Buttons for failures that several listed runs share. Each filters the list to its runs. */
export function FailureGroups({ view, onChoose }: FailureGroupsProps) {
  const project = useCurrentProject();
  const { data = [] } = useQuery(failuresQuery(toFailuresQuery(view, project)));
  // Hide the group that the list is already filtered to.
  const groups = data.filter(({ message }) => message !== view.text.trim());
  if (groups.length === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label="Runs with the same failure">
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
