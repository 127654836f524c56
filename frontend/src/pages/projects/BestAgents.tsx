import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "react-router";
import type { Project, ProjectAgent } from "@/api/types";
import { score, short } from "@/ui/format";
import { RunDot } from "@/ui/RunDot";
import { Thumbnail } from "@/ui/Thumbnail";
import classes from "./projects.module.css";

const PICTURE_SIZE = 168;

/** The best run of each environment, with its picture. */
export function BestAgents({ project }: { project: Project }) {
  const agents = project.best_agents;
  return (
    <section aria-label="Best agents">
      <Stack gap="xs">
        <Title order={2}>Best agents</Title>
        {agents.length === 0 ? (
          <Text size="sm" c="dimmed">
            The best run of each environment appears here when a run has finished episodes.
          </Text>
        ) : (
          <ul className={classes.agents}>
            {agents.map((agent) => (
              <li key={agent.env} className={classes.agent}>
                <Agent agent={agent} />
              </li>
            ))}
          </ul>
        )}
      </Stack>
    </section>
  );
}

function Agent({ agent }: { agent: ProjectAgent }) {
  const run = `/runs/${agent.run_id}`;
  return (
    <>
      <Link to={run} className={classes.picture} aria-label={`Run ${agent.run_id} ${agent.run_name}`}>
        <Thumbnail
          fileId={agent.poster_file_id}
          size={PICTURE_SIZE}
          alt={`Latest frame of ${agent.env_title}`}
        />
      </Link>
      <Stack gap={2} p="sm" pt="xs">
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Text size="sm" fw={600} truncate>
            {agent.env_title}
          </Text>
          <Text size="sm" fw={600} title="Best mean return of 100 training episodes">
            {score(agent.best_return)}
          </Text>
        </Group>
        <Anchor component={Link} to={run} size="xs" className={classes.run}>
          <RunDot run={agent} />
          <span className={classes.runName}>{agent.run_name}</span>
        </Anchor>
        <Group gap="sm" justify="space-between">
          <Text size="xs" c="dimmed">
            {agent.method}
            {agent.checkpoint_step !== null && ` · ${short(agent.checkpoint_step, "steps")}`}
          </Text>
          {agent.checkpoint_id !== null && (
            <Anchor component={Link} to={`${run}/live`} size="xs">
              Watch
            </Anchor>
          )}
        </Group>
      </Stack>
    </>
  );
}
