import { Anchor, Badge, Group, List, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { agentAddress } from "@/api/agents";
import { type LineageCheckpoint, type LineageRun, lineageQuery } from "@/api/lineage";
import type { Run } from "@/api/types";
import { short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { Score } from "@/ui/Quantity";
import classes from "./run.module.css";

/** Origin of a run, and the evaluations, forks and agents of its checkpoints. */
export function LineageTab({ run }: { run: Run }) {
  const lineage = useQuery(lineageQuery(run.id));
  if (lineage.isError && !lineage.data) {
    return <QueryError error={lineage.error} retry={() => void lineage.refetch()} />;
  }
  if (!lineage.data) return <Text c="dimmed">Loading lineage…</Text>;
  const { ancestors, ancestor_deleted: isAncestorDeleted, checkpoints } = lineage.data;
  return (
    <Stack gap="md" className={classes.narrow}>
      <section className={classes.card} aria-label="Origin">
        <Title order={2} mb="xs">
          Origin
        </Title>
        <List size="sm" spacing={4} listStyleType="none">
          {isAncestorDeleted && <List.Item>a run that was deleted, or to which you have no access</List.Item>}
          {ancestors.map((ancestor) => (
            <List.Item key={ancestor.id}>
              <RunLink run={ancestor} />
              {ancestor.step !== null && ` at ${short(ancestor.step, "steps")}`}
            </List.Item>
          ))}
          <List.Item>
            <b>{run.name}</b> (run {run.id}){origin(run, ancestors.length > 0 || isAncestorDeleted)}
          </List.Item>
        </List>
      </section>
      <section className={classes.card} aria-label="Checkpoints">
        <Title order={2} mb="xs">
          Checkpoints
        </Title>
        {checkpoints.length === 0 && (
          <Text size="sm" c="dimmed">
            No checkpoints yet.
          </Text>
        )}
        <Stack gap="sm">
          {checkpoints.map((checkpoint) => (
            <CheckpointLineage key={checkpoint.id} run={run} checkpoint={checkpoint} />
          ))}
        </Stack>
      </section>
    </Stack>
  );
}

function origin(run: Run, hasAncestors: boolean): string {
  if (run.origin === "agent") return ", imported from an agent file";
  return hasAncestors ? ", continued from there" : ", trained from scratch";
}

function CheckpointLineage({ run, checkpoint }: { run: Run; checkpoint: LineageCheckpoint }) {
  return (
    <div>
      <Group gap={8}>
        <Text size="sm" fw={600}>
          {short(checkpoint.step, "steps")}
        </Text>
        {checkpoint.aliases.map((alias) => (
          <Badge key={alias} size="sm" variant="outline" tt="none">
            {alias}
          </Badge>
        ))}
        {checkpoint.available && run.unsupported_because === null && (
          <Anchor
            href={agentAddress(run.id, checkpoint.id)}
            download
            size="sm"
            display="inline-block"
            lh="24px"
          >
            Download agent
          </Anchor>
        )}
        {!checkpoint.available && (
          <Text size="xs" c="dimmed">
            deleted
          </Text>
        )}
      </Group>
      <List size="sm" spacing={2} withPadding>
        {checkpoint.evaluations.map((evaluation) => (
          <List.Item key={evaluation.id}>
            <Anchor component={Link} to={`/runs/${run.id}/evaluations`} size="sm">
              Evaluation {evaluation.id}
            </Anchor>
            : <Score value={evaluation.mean} meaning="Mean score" />, {evaluation.episodes} episodes by{" "}
            {evaluation.protocol}
          </List.Item>
        ))}
        {checkpoint.forks.map((fork) => (
          <List.Item key={fork.id}>
            Fork: <RunLink run={fork} />
          </List.Item>
        ))}
        {checkpoint.agents.map((agent) => (
          <List.Item key={agent.id}>
            Imported agent: <RunLink run={agent} />
          </List.Item>
        ))}
      </List>
    </div>
  );
}

function RunLink({ run }: { run: LineageRun }) {
  return (
    <Anchor component={Link} to={`/runs/${run.id}/lineage`} size="sm">
      {run.name} (run {run.id})
    </Anchor>
  );
}
