import { Button, Code, CopyButton, Group, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Run } from "@/api/types";
import classes from "./run.module.css";

/** Why a run failed, in the trainer's own words. */
export function FailureCard({ failure }: { failure: NonNullable<Run["failure"]> }) {
  return (
    <section className={`${classes.card} ${classes.failure}`} role="alert">
      <Group gap="xs" wrap="nowrap" align="flex-start" mb="xs">
        <IconAlertTriangle size={18} aria-hidden style={{ flex: "none" }} />
        <Title order={2}>{failure.message}</Title>
      </Group>
      {failure.traceback && (
        <>
          <Code block className={classes.traceback} tabIndex={0}>
            {failure.traceback}
          </Code>
          <CopyButton value={failure.traceback}>
            {({ copied, copy }) => (
              <Button size="xs" variant="default" mt="xs" onClick={copy}>
                {copied ? "Copied" : "Copy traceback"}
              </Button>
            )}
          </CopyButton>
        </>
      )}
    </section>
  );
}
