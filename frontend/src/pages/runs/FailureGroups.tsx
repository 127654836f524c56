import { Button, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { failuresQuery } from "@/api/runs";
import { useCurrentProject } from "@/ui/currentProject";
import { FailureNotice } from "./FailureNotice";
import { toFailuresQuery, type RunsView } from "./view";

/** Further failures are shown on request. */
const MAX_SHOWN = 3;

interface FailureGroupsProps {
  view: RunsView;
  /** Called with the failure message to filter by. */
  onChoose: (text: string) => void;
}

/** Failures that several listed runs share, with their fix. Each filters the list to its runs. */
export function FailureGroups({ view, onChoose }: FailureGroupsProps) {
  const project = useCurrentProject();
  const [showsAll, setShowsAll] = useState(false);
  const { data: groups = [] } = useQuery(failuresQuery(toFailuresQuery(view, project)));
  if (groups.length === 0) return null;
  const hidden = showsAll ? 0 : groups.length - MAX_SHOWN;
  return (
    <Stack gap={4} role="group" aria-label="Runs with the same failure">
      {groups.slice(0, hidden > 0 ? MAX_SHOWN : undefined).map((group) => (
        <FailureNotice
          key={group.message}
          group={group}
          view={view}
          // The list is already filtered to it.
          onChoose={group.message === view.text.trim() ? null : () => onChoose(group.message)}
        />
      ))}
      {hidden > 0 && (
        <Button variant="subtle" size="compact-xs" h={24} mr="auto" onClick={() => setShowsAll(true)}>
          Show {hidden} more {hidden === 1 ? "failure" : "failures"}
        </Button>
      )}
    </Stack>
  );
}
