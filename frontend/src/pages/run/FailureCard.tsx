import { Alert, Button, Code, CopyButton, Group } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Run } from "@/api/types";
import classes from "./run.module.css";

/** Why a run failed, in the trainer's own words. */
export function FailureCard({ failure }: { failure: NonNullable<Run["failure"]> }) {
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle aria-hidden />} title={failure.message}>
      {failure.traceback && (
        <>
          <Code block className={classes.traceback} tabIndex={0}>
            {failure.traceback}
          </Code>
          <Group mt="xs">
            <CopyButton value={failure.traceback}>
              {({ copied, copy }) => (
                <Button size="xs" variant="default" onClick={copy}>
                  {copied ? "Copied" : "Copy traceback"}
                </Button>
              )}
            </CopyButton>
          </Group>
        </>
      )}
    </Alert>
  );
}
