import { Badge, Button, Group, Skeleton, Stack, Switch, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { sessionsQuery, useEndSession } from "@/api/people";
import { useSignOut, useSignOutEverywhere } from "@/api/session";
import type { Account, OpenSession } from "@/api/types";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { RevokeAllTokens } from "./RevokeAllTokens";
import { browserName } from "./words";
import classes from "./settings.module.css";

/** The browsers that are signed in. */
export function SessionsTab({ account }: { account: Account }) {
  const [everyone, setEveryone] = useState(false);
  const sessions = useQuery(sessionsQuery(everyone));
  const signOutEverywhere = useSignOutEverywhere();
  return (
    <section className={classes.card} aria-label="Sessions">
      <Group justify="space-between" gap="xs">
        <Title order={2}>Signed-in browsers</Title>
        <Group gap="xs">
          {account.is_administrator && (
            <Switch
              label="Of everyone"
              checked={everyone}
              onChange={(event) => setEveryone(event.currentTarget.checked)}
            />
          )}
          <RevokeAllTokens />
          <Button
            size="xs"
            variant="default"
            loading={signOutEverywhere.isPending}
            onClick={() => signOutEverywhere.mutate()}
          >
            Sign out everywhere
          </Button>
        </Group>
      </Group>
      <Text size="sm" c="dimmed" mt="xs">
        A session ends 30 days after its sign-in. End those that you do not know, and change your password.
        Tokens of scripts and terminals stay valid until you revoke them.
      </Text>
      {sessions.isError && !sessions.data && (
        <QueryError error={sessions.error} retry={() => void sessions.refetch()} />
      )}
      {sessions.isPending && <Skeleton height={96} mt="xs" role="status" aria-label="Loading sessions…" />}
      {sessions.data?.map((session) => (
        <SessionRow key={session.id} session={session} showsPerson={everyone} />
      ))}
    </section>
  );
}

function SessionRow({ session, showsPerson }: { session: OpenSession; showsPerson: boolean }) {
  const end = useEndSession();
  const signOut = useSignOut();
  const browser = browserName(session.browser);
  return (
    <div className={classes.row}>
      <Stack gap={2} className={classes.facts ?? ""}>
        <Group gap={8}>
          <Text size="sm" fw={500} title={session.browser}>
            {showsPerson ? `${session.person.name}, ${browser}` : browser}
          </Text>
          {session.is_current && (
            <Badge size="sm" variant="light" tt="none">
              This browser
            </Badge>
          )}
        </Group>
        <p className={classes.dim}>
          {session.address} · last used <TimeAgo time={session.last_used_at} /> · signed in{" "}
          <TimeAgo time={session.created_at} />
        </p>
      </Stack>
      <Button
        size="xs"
        variant="default"
        aria-label={`Sign out ${session.is_current ? "this browser" : `${browser}, ${session.address}`}`}
        loading={end.isPending || signOut.isPending}
        onClick={() => (session.is_current ? signOut.mutate() : end.mutate(session.id))}
      >
        Sign out
      </Button>
    </div>
  );
}
