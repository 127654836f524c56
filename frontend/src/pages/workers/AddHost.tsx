import { Alert, Badge, Button, Code, Group, Stack, Text, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { tokensQuery, useRevokeToken } from "@/api/people";
import { accountQuery } from "@/api/session";
import type { AccessToken } from "@/api/types";
import { useCreateHostCode } from "@/api/workers";
import { CommandLine } from "@/ui/CommandLine";
import { TimeAgo } from "@/ui/Quantity";
import { useNow } from "@/ui/useNow";
import classes from "./workers.module.css";

/** How a host joins this server, and the hosts that have. */
export function AddHost() {
  const isAdministrator = useQuery(accountQuery).data?.is_administrator ?? false;
  const create = useCreateHostCode();
  return (
    <Stack gap="xs" component="section" aria-label="Add a host">
      <Title order={2}>Add a host</Title>
      <Text size="sm" c="dimmed" maw={720}>
        A host needs Python 3.11 or later and the address of this server. Its worker trains one run at a time,
        and does jobs such as evaluations beside it.
        {!isAdministrator && " Administrators of the installation add hosts."}
      </Text>
      {isAdministrator && !create.data && (
        <Button
          w="fit-content"
          leftSection={<IconPlus size={16} aria-hidden />}
          loading={create.isPending}
          onClick={() => create.mutate()}
        >
          Add a host
        </Button>
      )}
      {create.data && (
        <Commands
          commands={create.data.commands}
          hasPackage={create.data.has_package}
          expiresAt={create.data.expires_at}
          another={() => create.mutate()}
          isPending={create.isPending}
        />
      )}
      {isAdministrator && <JoinedHosts />}
    </Stack>
  );
}

interface CommandsProps {
  commands: readonly string[];
  hasPackage: boolean;
  expiresAt: string;
  another: () => void;
  isPending: boolean;
}

const STEPS = [
  "Create a virtual environment:",
  "Install Arcadia. On a host with a GPU, this takes several gigabytes:",
  "Join this server:",
  "Start a worker. Add --queue gpu on a host with a GPU:",
];

/** The commands for the new host. Its code works once. */
function Commands({ commands, hasPackage, expiresAt, another, isPending }: CommandsProps) {
  const minutes = Math.ceil((Date.parse(expiresAt) - useNow()) / 60_000);
  return (
    <Stack gap="xs">
      <Text size="sm">
        Run these commands on the new host. On Debian and Ubuntu, install python3-venv first.
      </Text>
      {!hasPackage && (
        <Alert variant="light" color="yellow" p="sm" maw={720}>
          <Text size="sm">
            This server does not offer the package of Arcadia. Run <Code>make wheel</Code> in its folder
            before the second command.
          </Text>
        </Alert>
      )}
      {commands.map((command, step) => (
        <Stack key={command} gap={4}>
          <Text size="sm" c="dimmed">
            {step + 1}. {STEPS[step]}
          </Text>
          <CommandLine command={command} />
        </Stack>
      ))}
      <Group gap="sm">
        <Text size="sm" role="status">
          {minutes > 0
            ? `The code works once, for ${minutes} more minute${minutes === 1 ? "" : "s"}.`
            : "The code has expired."}
        </Text>
        <Button size="xs" variant="default" loading={isPending} onClick={another}>
          Create another code
        </Button>
      </Group>
    </Stack>
  );
}

/** The tokens of hosts, which can be revoked here. */
function JoinedHosts() {
  const { data: tokens = [] } = useQuery(tokensQuery(true));
  const hosts = tokens.filter(({ person, scopes }) => person === null && scopes.includes("worker"));
  if (hosts.length === 0) return null;
  return (
    <Stack gap={4} component="section" aria-label="Joined hosts" mt="xs">
      <Title order={3}>Joined hosts</Title>
      {hosts.map((host) => (
        <JoinedHost key={host.id} host={host} />
      ))}
    </Stack>
  );
}

function JoinedHost({ host }: { host: AccessToken }) {
  const revoke = useRevokeToken();
  return (
    <Group gap="sm" className={host.revoked_at ? (classes.dim ?? "") : ""}>
      <Text size="sm" fw={500}>
        {host.name}
      </Text>
      <Text size="sm" c="dimmed">
        joined <TimeAgo time={host.created_at} />
        {host.last_address && ` · from ${host.last_address}`}
      </Text>
      {host.revoked_at ? (
        <Badge size="sm" color="gray" variant="light" tt="none">
          Revoked
        </Badge>
      ) : (
        <Button
          size="xs"
          variant="default"
          aria-label={`Revoke the token of ${host.name}`}
          loading={revoke.isPending}
          onClick={() => revoke.mutate(host.id)}
        >
          Revoke
        </Button>
      )}
    </Group>
  );
}
