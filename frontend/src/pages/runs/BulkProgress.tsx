import { Button, CloseButton, Group, List, Paper, Progress, ScrollArea, Text } from "@mantine/core";
import { useSessionStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import {
  type BulkActionProgress,
  bulkActionsQuery,
  skippedRunsQuery,
  useCancelBulkAction,
  useUndoBulkAction,
} from "@/api/bulkActions";
import { ACTION_RESULTS } from "@/run-actions/words";
import { exact, plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import classes from "./runs.module.css";

/** Return the actions that this tab has started or seen in progress. It shows their results, also after a reload. */
export const useSeenActions = () =>
  useSessionStorage<number[]>({
    key: "arcadia-bulk-actions",
    defaultValue: [],
    getInitialValueInEffect: false,
  });

/** Actions on fewer runs end at once. The toolbar that starts one shows its result. */
const SHOWN_FROM = 500;

/** Progress of the actions on all matching runs, and their results until they are dismissed. */
export function BulkProgress() {
  const { data: actions = [] } = useQuery(bulkActionsQuery);
  const [seen, setSeen] = useSeenActions();
  const running = actions.filter(({ state, total }) => state === "running" && total >= SHOWN_FROM);
  const unseen = running.filter(({ id }) => !seen.includes(id)).map(({ id }) => id);
  useEffect(() => {
    if (unseen.length > 0) setSeen([...seen, ...unseen]);
  });
  const shown = actions.filter((action) => running.includes(action) || seen.includes(action.id));
  if (shown.length === 0) return null;
  return (
    <div className={classes.progress} role="region" aria-label="Actions on many runs">
      {shown.map((action) =>
        action.state === "running" ? (
          <Running key={action.id} action={action} />
        ) : (
          <Ended
            key={action.id}
            action={action}
            onDismiss={() => setSeen(seen.filter((id) => id !== action.id))}
          />
        ),
      )}
    </div>
  );
}

type Action = BulkActionProgress["action"];

/** What happens to the runs: "Archiving 10 000 runs". */
const ACTIVITIES: Record<Action, string> = {
  stop: "Stopping",
  pause: "Pausing",
  resume: "Resuming",
  archive: "Archiving",
  restore: "Restoring",
  purge: "Purging",
  tag: "Tagging",
  untag: "Removing tags of",
  move: "Moving",
};

const RESULTS: Record<Action, string> = {
  ...ACTION_RESULTS,
  tag: "tagged",
  untag: "changed",
  move: "moved",
};

const target = ({ project }: BulkActionProgress) => (project === null ? "" : ` to ${project}`);

function Running({ action }: { action: BulkActionProgress }) {
  const cancel = useCancelBulkAction();
  const handled = action.done + action.skipped;
  const subject = `${ACTIVITIES[action.action]} ${plural(action.total, "run")}${target(action)}`;
  return (
    <Paper className={classes.progressItem} shadow="md" withBorder>
      <Group justify="space-between" wrap="nowrap" gap="md">
        <Text size="sm">
          <strong>{subject}</strong>: {exact(handled)} done
        </Text>
        {action.may_edit && (
          <Button
            size="xs"
            variant="default"
            loading={cancel.isPending}
            aria-label={`Cancel: ${subject}`}
            onClick={() => cancel.mutate(action.id)}
          >
            Cancel
          </Button>
        )}
      </Group>
      <Progress mt={8} value={(100 * handled) / Math.max(1, action.total)} aria-label={subject} />
    </Paper>
  );
}

function Ended({ action, onDismiss }: { action: BulkActionProgress; onDismiss: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const undo = useUndoBulkAction();
  const { id, done, skipped, state, total, message } = action;
  const canUndo = action.may_edit && (action.action === "archive" || action.action === "restore") && done > 0;
  const left = total - done - skipped;
  const parts = [
    `${plural(done, "run")} ${RESULTS[action.action]}${target(action)}`,
    ...(skipped > 0 ? [`${exact(skipped)} skipped`] : []),
    ...(state === "cancelled" ? [`${message ? "ended" : "canceled"} before the other ${exact(left)}`] : []),
  ];
  return (
    <Paper className={classes.progressItem} shadow="md" withBorder>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" role="status">
          {parts.join(", ")}.{message && ` ${message}`}
        </Text>
        <Group gap={4} wrap="nowrap">
          {skipped > 0 && (
            <Button size="xs" variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? "Hide skipped" : "Show skipped"}
            </Button>
          )}
          {canUndo && (
            <Button
              size="xs"
              variant="default"
              loading={undo.isPending}
              onClick={() => undo.mutate(id, { onSuccess: onDismiss })}
            >
              Undo
            </Button>
          )}
          <CloseButton aria-label="Dismiss" onClick={onDismiss} />
        </Group>
      </Group>
      {isOpen && <Skipped id={id} />}
    </Paper>
  );
}

/** The first runs that an action has skipped, with the reasons. */
function Skipped({ id }: { id: number }) {
  const { data, error, refetch } = useQuery(skippedRunsQuery(id));
  if (error) return <QueryError error={error} retry={() => void refetch()} />;
  if (!data) return <Text size="xs">Loading…</Text>;
  return (
    <ScrollArea.Autosize mah={160} mt={8}>
      <List size="xs">
        {data.items.map((run) => (
          <List.Item key={run.id}>{run.reason}</List.Item>
        ))}
      </List>
      {data.total > data.items.length && (
        <Text size="xs" c="dimmed">
          And {exact(data.total - data.items.length)} more.
        </Text>
      )}
    </ScrollArea.Autosize>
  );
}
