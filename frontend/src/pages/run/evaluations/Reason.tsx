import { Code, Text } from "@mantine/core";
import type { Evaluation } from "@/api/types";
import { Words } from "@/ui/Words";
import classes from "./evaluations.module.css";

/** Why an evaluation waits or has failed, in plain words, with the traceback folded. */
export function Reason({ evaluation }: { evaluation: Pick<Evaluation, "reason" | "traceback"> }) {
  const { reason, traceback } = evaluation;
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
