import { Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { executorsQuery } from "@/api/executors";
import { workersQuery } from "@/api/workers";
import { addWorkerCommand } from "./addWorkerCommand";
import { CommandLine } from "./CommandLine";
import sheet from "./sheet.module.css";
import classes from "./Warning.module.css";

/** Explains how to start a worker for evaluations. Empty if one is connected, or if a scheduler starts one. */
export function NoPlayer({ executor = "workers" }: { executor?: string }) {
  const { data: workers } = useQuery(workersQuery);
  const isMissing =
    workers !== undefined && !workers.some(({ state, job_slots }) => state !== "gone" && job_slots > 0);
  const { data: executors } = useQuery({ ...executorsQuery, enabled: isMissing });
  const usual = executors?.find(({ is_default }) => is_default)?.name ?? "workers";
  if (!isMissing || executor !== "workers" || usual !== "workers") return null;
  return (
    <div className={`${sheet.card} ${classes.warning}`} role="status">
      <Group gap="xs" wrap="nowrap" mb={4}>
        <IconAlertTriangle size={18} aria-hidden style={{ flex: "none" }} />
        <Text fw={600} size="sm">
          No worker for evaluations is connected
        </Text>
      </Group>
      <Text size="sm" mb={8}>
        Evaluations wait for a worker. Each worker plays one evaluation while it trains, unless it was started
        with --jobs 0. Start a worker:
      </Text>
      <CommandLine command={addWorkerCommand("worker-2")} />
    </div>
  );
}
