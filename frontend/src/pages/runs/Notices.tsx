import { Alert, Stack, Text } from "@mantine/core";
import { IconInfoCircle, IconPlugConnectedX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { healthQuery, workersQuery } from "@/api/queries";
import { addWorkerCommand } from "@/pages/workers/command";
import { CommandLine } from "@/ui/CommandLine";

/** Nothing announces that the broker has gone or come back. */
const HEALTH_MS = 15_000;

/** What keeps runs from starting, and what helps. */
export function Notices() {
  const workers = useQuery(workersQuery);
  const health = useQuery({ ...healthQuery, refetchInterval: HEALTH_MS });
  const noWorker = workers.data !== undefined && !workers.data.some(({ state }) => state !== "gone");
  return (
    <>
      {health.data && !health.data.broker.ok && (
        <Alert
          variant="default"
          icon={<IconPlugConnectedX aria-hidden />}
          title="Runs wait: the message broker is away"
        >
          <Text size="sm">
            Nothing is lost; workers hear of new runs when it is back. It says: {health.data.broker.detail}
          </Text>
        </Alert>
      )}
      {noWorker && (
        <Alert variant="default" icon={<IconInfoCircle aria-hidden />} title="No worker is connected">
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
