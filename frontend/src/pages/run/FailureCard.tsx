import { Code, Group, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Run } from "@/api/types";
import { FixButton } from "@/run-actions/FixButton";
import { CopyText } from "@/ui/CopyText";
import classes from "./run.module.css";

/** Remove the last line of a traceback if it repeats the message, which is the title of the card. */
function withoutMessage(traceback: string, message: string): string {
  const lines = traceback.trimEnd().split("\n");
  return lines.length > 1 && lines.at(-1)?.endsWith(message) ? lines.slice(0, -1).join("\n") : traceback;
}

/** Why a run failed, with the trainer's message and traceback. */
export function FailureCard({ run }: { run: Run }) {
  const { failure } = run;
  if (!failure) return null;
  return (
    <section className={`${classes.card} ${classes.failure}`} role="alert">
      <Group gap="xs" wrap="nowrap" align="flex-start" mb="xs">
        <IconAlertTriangle size={18} aria-hidden style={{ flex: "none" }} />
        <Title order={2}>{failure.message}</Title>
      </Group>
      {failure.traceback && (
        <Code block className={classes.traceback} tabIndex={0}>
          {withoutMessage(failure.traceback, failure.message)}
        </Code>
      )}
      <Group gap="xs" mt="xs">
        <FixButton run={run} />
        {failure.traceback && <CopyText label="Copy traceback" text={failure.traceback} />}
      </Group>
    </section>
  );
}
