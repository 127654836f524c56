import { Button, Tooltip } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import { type RunAction, useRunAction } from "@/api/mutations";
import type { Run } from "@/api/types";
import { refusal } from "@/ui/runActions";

const STEERING: { action: RunAction; label: string; says: string; Icon: typeof IconPlayerStop }[] = [
  { action: "resume", label: "Resume", says: "Goes on from its last checkpoint.", Icon: IconPlayerPlay },
  {
    action: "pause",
    label: "Pause",
    says: "Saves a checkpoint and frees the worker; resume it later.",
    Icon: IconPlayerPause,
  },
  {
    action: "stop",
    label: "Stop run",
    says: "Saves a checkpoint and ends the run for good.",
    Icon: IconPlayerStop,
  },
];

/** The buttons that its state allows. */
export function RunActions({ run }: { run: Run }) {
  const act = useRunAction();
  return STEERING.filter(({ action }) => refusal(run, action as "stop") === null).map(
    ({ action, label, says, Icon }) => (
      <Tooltip key={action} label={says}>
        <Button
          size="xs"
          variant={action === "resume" ? "filled" : "default"}
          leftSection={<Icon size={14} aria-hidden />}
          loading={act.isPending && act.variables.action === action}
          onClick={() => act.mutate({ id: run.id, action })}
        >
          {label}
        </Button>
      </Tooltip>
    ),
  );
}
