import { Anchor, Group, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "react-router";
import type { Run } from "@/api/types";
import warningClasses from "@/ui/Warning.module.css";
import classes from "./run.module.css";

/** The trainer's warnings: problems that did not end the run. */
export function WarningsCard({ run }: { run: Run }) {
  if (run.warnings.length === 0) return null;
  return (
    <section className={`${classes.card} ${warningClasses.warning}`} role="status" aria-label="Warnings">
      <Group gap="xs" wrap="nowrap" mb="xs">
        <IconAlertTriangle size={18} aria-hidden style={{ flex: "none" }} />
        <Title order={2}>{run.warnings.length === 1 ? "Warning" : "Warnings"}</Title>
      </Group>
      {run.warnings.map((warning, index) => (
        <Text key={index} size="sm" mb={4}>
          {warning}
        </Text>
      ))}
      <Anchor component={Link} to={`/runs/${run.id}/log`} size="sm">
        See the log
      </Anchor>
    </section>
  );
}
