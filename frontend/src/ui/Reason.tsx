import { Code, Text } from "@mantine/core";
import type { Evaluation } from "@/api/types";
import { Words } from "./Words";
import classes from "./Reason.module.css";

/** Why a job waits or has failed, in plain words, with the traceback folded. */
export function Reason({ of }: { of: Pick<Evaluation, "reason" | "traceback"> }) {
  const { reason, traceback } = of;
  if (!reason && !traceback) return null;
  return (
    <div>
      {reason && (
        <Text size="sm" c="dimmed">
          <Words>{reason}</Words>
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
