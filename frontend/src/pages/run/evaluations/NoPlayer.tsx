import { Alert, Text } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { workersQuery } from "@/api/queries";
import { addWorkerCommand } from "@/ui/addWorkerCommand";
import { CommandLine } from "@/ui/CommandLine";

/** Says what to do where no worker is connected that plays evaluations; nothing where one is. */
export function NoPlayer() {
  const { data: workers } = useQuery(workersQuery);
  if (!workers || workers.some(({ state, errand_slots }) => state !== "gone" && errand_slots > 0))
    return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconInfoCircle aria-hidden />}
      title="No worker that plays evaluations is connected"
    >
      <Text size="sm" mb={8}>
        Evaluations wait until one is. Every worker plays one at a time beside its training, unless it was
        started with --errands 0. Start one:
      </Text>
      <CommandLine command={addWorkerCommand("worker-2")} />
    </Alert>
  );
}
