import { Group, Text, Title } from "@mantine/core";
import type { Run } from "@/api/types";
import { describePlaces, groupByHost } from "./roles";
import classes from "./run.module.css";

/** Roles of a distributed run by host, with the roles that were lost and replaced. */
export function RolesCard({ run }: { run: Run }) {
  const hosts = groupByHost(run.roles);
  return (
    <section className={classes.card} aria-label="Roles">
      <Group justify="space-between" gap="4px 16px" mb="xs">
        <Title order={2}>Roles</Title>
        <Text size="sm" c="dimmed">
          {describePlaces(run.roles, hosts.length, run.state === "running")}
        </Text>
      </Group>
      <ul className={classes.hosts}>
        {hosts.map(({ host, roles, replaced }) => (
          <li key={host}>
            <Text size="sm" fw={600} className={classes.host}>
              {host}
            </Text>
            <dl className={classes.pairs}>
              {roles.map(({ name, numbers }) => (
                <RoleNumbers key={name} name={name} numbers={numbers} />
              ))}
            </dl>
            {replaced.length > 0 && (
              <Text size="xs" c="dimmed" mt={4}>
                Replaced: {replaced.join("; ")}
              </Text>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function RoleNumbers({ name, numbers }: { name: string; numbers: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{numbers}</dd>
    </>
  );
}
