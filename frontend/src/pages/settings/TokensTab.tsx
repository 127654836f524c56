import { Badge, Button, Code, Group, Skeleton, Stack, Switch, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { tokensQuery, useRevokeToken } from "@/api/people";
import type { AccessToken, Account, CreatedToken } from "@/api/types";
import { exactTime } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { useNow } from "@/ui/useNow";
import { CreateToken } from "./CreateToken";
import { RevokeAllTokens } from "./RevokeAllTokens";
import { SecretBox } from "./SecretBox";
import classes from "./settings.module.css";

/** Tokens of scripts and workers. */
export function TokensTab({ account }: { account: Account }) {
  const [everyone, setEveryone] = useState(false);
  const tokens = useQuery(tokensQuery(everyone));
  const [creating, create] = useDisclosure(false);
  const [created, setCreated] = useState<CreatedToken>();
  return (
    <section className={classes.card} aria-label="Tokens">
      <Group justify="space-between" gap="xs">
        <Title order={2}>Tokens</Title>
        <Group gap="xs">
          {account.is_administrator && (
            <Switch
              label="Of everyone"
              checked={everyone}
              onChange={(event) => setEveryone(event.currentTarget.checked)}
            />
          )}
          <RevokeAllTokens />
          <Button size="xs" leftSection={<IconPlus size={16} />} onClick={create.open}>
            Create token
          </Button>
        </Group>
      </Group>
      <Text size="sm" c="dimmed" mt="xs">
        Scripts, the command line and workers send a token. It never does more than its person may.
      </Text>
      {tokens.isError && !tokens.data && (
        <QueryError error={tokens.error} retry={() => void tokens.refetch()} />
      )}
      {tokens.isPending && <Skeleton height={96} mt="xs" role="status" aria-label="Loading tokens…" />}
      {tokens.data?.length === 0 && (
        <Text size="sm" my="xs">
          There are no tokens yet.
        </Text>
      )}
      {tokens.data?.map((token) => (
        <TokenRow key={token.id} token={token} showsPerson={everyone} />
      ))}
      {creating && <CreateToken account={account} onCreated={setCreated} onClose={create.close} />}
      {created && (
        <SecretBox
          title={`Token ${created.name}`}
          label="Token"
          secret={created.secret}
          onClose={() => setCreated(undefined)}
        >
          Copy the token now. It is not shown again. Send it as <Code>Authorization: Bearer …</Code>, or set{" "}
          <Code>ARCADIA_TOKEN</Code> where your script runs.
        </SecretBox>
      )}
    </section>
  );
}

function TokenRow({ token, showsPerson }: { token: AccessToken; showsPerson: boolean }) {
  const revoke = useRevokeToken();
  const now = useNow();
  const hasExpired = token.expires_at !== null && Date.parse(token.expires_at) < now;
  const hasEnded = hasExpired || token.revoked_at !== null;
  return (
    <div className={classes.row} data-ended={hasEnded || undefined}>
      <Stack gap={2} className={classes.facts ?? ""}>
        <Group gap={8}>
          <Text size="sm" fw={500}>
            {showsPerson && token.person ? `${token.person.name}: ${token.name}` : token.name}
          </Text>
          {token.scopes.map((scope) => (
            <Badge key={scope} size="sm" variant="default" tt="none">
              {scope}
            </Badge>
          ))}
          {token.project !== null && <Text size="sm">in {token.project}</Text>}
          {hasEnded && (
            <Badge size="sm" color="gray" variant="light" tt="none">
              {token.revoked_at ? "Revoked" : "Expired"}
            </Badge>
          )}
        </Group>
        <p className={classes.dim}>
          {token.last_used_at ? (
            <>
              last used <TimeAgo time={token.last_used_at} /> from {token.last_address}
            </>
          ) : (
            "never used"
          )}
          {!hasEnded &&
            (token.expires_at ? ` · expires ${exactTime(token.expires_at)}` : " · does not expire")}
        </p>
      </Stack>
      {!hasEnded && (
        <Button
          size="xs"
          variant="default"
          aria-label={`Revoke ${token.name}`}
          loading={revoke.isPending}
          onClick={() => revoke.mutate(token.id)}
        >
          Revoke
        </Button>
      )}
    </div>
  );
}
