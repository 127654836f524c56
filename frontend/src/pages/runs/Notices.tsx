import { Alert, Anchor, Stack, Text } from "@mantine/core";
import { useSessionStorage } from "@mantine/hooks";
import { IconInfoCircle, IconPlugConnectedX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { healthQuery, workersQuery } from "@/api/workers";
import { addWorkerCommand } from "@/ui/addWorkerCommand";
import { CommandLine } from "@/ui/CommandLine";

/** Poll, because no live event reports the state of the broker. */
const HEALTH_INTERVAL_MS = 60_000;

/** Notices about problems that keep runs from starting. A dismissed notice stays hidden until the tab is closed. */
export function Notices() {
  const [dismissed, setDismissed] = useSessionStorage<string[]>({
    key: "arcadia-notices-put-away",
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const isShown = (notice: string) => !dismissed.includes(notice);
  const dismissable = (notice: string) => ({
    withCloseButton: true,
    // A long command scrolls instead of widening the notice.
    styles: { body: { minWidth: 0 } },
    closeButtonLabel: "Dismiss notice",
    onClose: () => setDismissed([...dismissed, notice]),
  });
  const workers = useQuery(workersQuery);
  const health = useQuery({ ...healthQuery, refetchInterval: HEALTH_INTERVAL_MS });
  const hasNoWorker = workers.data !== undefined && !workers.data.some(({ state }) => state !== "gone");
  return (
    <>
      {health.data && !health.data.broker.ok && isShown("broker") && (
        <Alert
          {...dismissable("broker")}
          variant="default"
          icon={<IconPlugConnectedX aria-hidden />}
          title="Queued runs cannot start: the message broker is unreachable"
        >
          <Text size="sm">
            They start when the broker is reachable again. Last error: {health.data.broker.detail}
          </Text>
        </Alert>
      )}
      {hasNoWorker && isShown("worker") && (
        <Alert
          {...dismissable("worker")}
          variant="default"
          icon={<IconInfoCircle aria-hidden />}
          title="No worker is connected"
        >
          <Stack gap="xs">
            <Text size="sm">
              Runs wait in the queue for a worker. Add a host on the page{" "}
              <Anchor component={Link} to="/workers" size="sm">
                Workers
              </Anchor>
              , or start a worker with the ARCADIA_WORKER_TOKEN of this server:
            </Text>
            <CommandLine command={addWorkerCommand("cpu-1")} />
          </Stack>
        </Alert>
      )}
    </>
  );
}
