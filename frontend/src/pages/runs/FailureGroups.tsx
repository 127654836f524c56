import { Button, Group, Stack } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { failuresQuery } from "@/api/runs";
import { useCurrentProject } from "@/ui/currentProject";
import { plural } from "@/ui/format";
import { lazyPart } from "@/ui/lazyPart";
import { toFailuresQuery, type RunsView } from "./view";

const FailureNotice = lazyPart(() => import("./FailureNotice").then((module) => module.FailureNotice));

/** Further failures are shown on request. */
const MAX_SHOWN = 3;

interface FailureGroupsProps {
  view: RunsView;
  /** Called with the failure message to filter by. */
  onChoose: (text: string) => void;
}

/** Failures that several listed runs share, with their fix. Each filters the list to its runs, or is dismissed. */
export function FailureGroups({ view, onChoose }: FailureGroupsProps) {
  const project = useCurrentProject();
  const [showsAll, setShowsAll] = useState(false);
  const [dismissed, setDismissed] = useDismissedFailures();
  const { data: groups = [] } = useQuery(failuresQuery(toFailuresQuery(view, project)));
  if (groups.length === 0) return null;
  // A dismissed failure appears again when more runs have it.
  const shown = groups.filter(({ message, runs }) => runs > (dismissed[message] ?? 0));
  const hidden = showsAll ? 0 : shown.length - MAX_SHOWN;
  const away = groups.length - shown.length;
  return (
    <Stack gap={4} role="group" aria-label="Runs with the same failure">
      {shown.slice(0, hidden > 0 ? MAX_SHOWN : undefined).map((group) => (
        <FailureNotice
          key={group.message}
          group={group}
          view={view}
          // The list is already filtered to it.
          onChoose={group.message === view.text.trim() ? null : () => onChoose(group.message)}
          onDismiss={() => setDismissed({ ...dismissed, [group.message]: group.runs })}
        />
      ))}
      {(hidden > 0 || away > 0) && (
        <Group gap={4}>
          {hidden > 0 && (
            <Button variant="subtle" size="compact-xs" h={24} onClick={() => setShowsAll(true)}>
              Show {plural(hidden, "more failure", "more failures")}
            </Button>
          )}
          {away > 0 && (
            <Button variant="subtle" color="gray" size="compact-xs" h={24} onClick={() => setDismissed({})}>
              Show {plural(away, "dismissed failure")}
            </Button>
          )}
        </Group>
      )}
    </Stack>
  );
}

/** Return the number of runs that each dismissed failure had, by message. The browser keeps it. */
function useDismissedFailures() {
  return useLocalStorage<Record<string, number>>({
    key: "arcadia-dismissed-failures",
    defaultValue: {},
    getInitialValueInEffect: false,
  });
}
