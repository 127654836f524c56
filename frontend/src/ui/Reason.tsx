import { Code, Text } from "@mantine/core";
import type { Evaluation } from "@/api/types";
import { TextWithCode } from "./TextWithCode";
import classes from "./Reason.module.css";

/** Why a job waits or failed, with a collapsed traceback. */
export function Reason({ of }: { of: Pick<Evaluation, "reason" | "traceback"> }) {
  const { reason, traceback } = of;
  if (!reason && !traceback) return null;
  return (
    <div>
      {reason && (
        <Text size="sm" c="dimmed">
          <TextWithCode>{reason}</TextWithCode>
        </Text>
      )}
      {traceback && (
        <details className={classes.folded}>
          <summary>Traceback</summary>
          <Code block tabIndex={0} className={classes.traceback}>
            {traceback}
          </Code>
        </details>
      )}
    </div>
  );
}
