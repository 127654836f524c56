import { Alert, Stack, Text } from "@mantine/core";
import { useSessionStorage } from "@mantine/hooks";
import { IconInfoCircle, IconPlugConnectedX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { healthQuery, workersQuery } from "@/api/workers";
import { addWorkerCommand } from "@/ui/addWorkerCommand";
import { CommandLine } from "@/ui/CommandLine";

/** Nothing announces that the broker has gone or come back. */
const HEALTH_MS = 15_000;

/** What keeps runs from starting, and what helps; each can be put away for as long as the tab is open. */
export function Notices() {
  const [away, setAway] = useSessionStorage<string[]>({
    key: "arcadia-notices-put-away",
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const shows = (notice: string) => !away.includes(notice);
  const putAway = (notice: string) => ({
    withCloseButton: true,
    closeButtonLabel: "Put this notice away",
    onClose: () => setAway([...away, notice]),
  });
  const workers = useQuery(workersQuery);
  const health = useQuery({ ...healthQuery, refetchInterval: HEALTH_MS });
  const noWorker = workers.data !== undefined && !workers.data.some(({ state }) => state !== "gone");
  return (
    <>
      {health.data && !health.data.broker.ok && shows("broker") && (
        <Alert
          {...putAway("broker")}
          variant="default"
          icon={<IconPlugConnectedX aria-hidden />}
          title="Queued runs do not start: the message broker does not answer"
        >
          <Text size="sm">
            Nothing is lost: they start when it answers again. Its last answer: {health.data.broker.detail}
          </Text>
        </Alert>
      )}
      {noWorker && shows("worker") && (
        <Alert
          {...putAway("worker")}
          variant="default"
          icon={<IconInfoCircle aria-hidden />}
          title="No worker is connected"
        >
          <Stack gap="xs">
            <Text size="sm">
              Runs wait in the queue until one is. Start one, here or on another machine, with
              ARCADIA_WORKER_TOKEN and ARCADIA_BROKER_URL set to those of this server:
            </Text>
            <CommandLine command={addWorkerCommand("cpu-1")} />
          </Stack>
        </Alert>
      )}
    </>
  );
}
