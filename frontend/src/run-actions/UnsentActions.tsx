import { Alert, Button, CloseButton, Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useEffect } from "react";
import { useLiveStatus } from "@/api/live/LiveProvider";
import { useStoredAction } from "@/api/runActions";
import {
  dismiss,
  restoreActions,
  retryAll,
  retryNow,
  useUnsentActions,
  type UnsentAction,
} from "./retriedActions";
import { ago } from "@/ui/format";
import { isOld } from "./storedActions";
import classes from "./unsent.module.css";

/** Failed actions at the top of every page. Each stays until it succeeds or is dismissed. */
export function UnsentActions() {
  const status = useLiveStatus();
  const { mutateAsync } = useStoredAction();
  useEffect(() => restoreActions(mutateAsync), [mutateAsync]);
  useEffect(() => {
    if (status === "live") retryAll();
  }, [status]);
  const failed = useUnsentActions().filter(({ reason }) => reason !== null);
  if (failed.length === 0) return null;
  return (
    <div role="alert" className={classes.list}>
      {failed.map((action) => (
        <FailedAction key={action.key} action={action} />
      ))}
    </div>
  );
}

function FailedAction({ action }: { action: UnsentAction }) {
  const { key, failure, reason, isSending, timer, requestedAt } = action;
  return (
    <Alert
      className={classes.notice}
      color="red"
      variant="light"
      icon={<IconAlertTriangle size={18} aria-hidden />}
    >
      <Group gap="xs" wrap="nowrap" justify="space-between">
        <div>
          <Text size="sm" fw={600}>
            {failure}.
          </Text>
          <Text size="sm">
            {reason}
            {timer !== undefined && " Arcadia is retrying."}
            {isOld(requestedAt) && ` You requested this ${ago(new Date(requestedAt).toISOString())}.`}
          </Text>
        </div>
        <Group gap={4} wrap="nowrap">
          <Button size="compact-sm" variant="default" loading={isSending} onClick={() => retryNow(key)}>
            Try again
          </Button>
          <CloseButton size="sm" aria-label={`Dismiss: ${failure}`} onClick={() => dismiss(key)} />
        </Group>
      </Group>
    </Alert>
  );
}
