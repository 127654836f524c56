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
  const noWorker = workers.isSuccess && !workers.data.some(({ state }) => state !== "gone");
  return (
    <>
      {health.data && !health.data.broker.ok && (
        <Alert
          variant="default"
          icon={<IconPlugConnectedX aria-hidden />}
          title="The message broker cannot be reached"
        >
          <Text size="sm">
            New runs wait until Redis answers again; nothing is lost. {health.data.broker.detail}
          </Text>
        </Alert>
      )}
      {noWorker && (
        <Alert variant="default" icon={<IconInfoCircle aria-hidden />} title="No worker is connected">
          <Stack gap="xs">
            <Text size="sm">
              Runs wait in the queue until one is. Start one, on this machine or another, with:
            </Text>
            <CommandLine command={addWorkerCommand("cpu-1")} />
          </Stack>
        </Alert>
      )}
    </>
  );
}
