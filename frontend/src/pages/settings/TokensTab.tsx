import {
  Badge,
  Button,
  Code,
  Group,
  Modal,
  Skeleton,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { tokensQuery, useCreateToken, useRevokeToken } from "@/api/people";
import type { AccessToken, Account, CreatedToken, TokenScope } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { CopyText } from "@/ui/CopyText";
import { exactTime } from "@/ui/format";
import { FormErrors } from "@/ui/FormErrors";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { defaultDays, TokenFields, type TokenLimits } from "@/ui/TokenFields";
import { useNow } from "@/ui/useNow";
import { RevokeAllTokens } from "./RevokeAllTokens";
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

const SCOPES: readonly TokenScope[] = ["read", "write", "log"];

interface CreateTokenProps {
  account: Account;
  onCreated: (token: CreatedToken) => void;
  onClose: () => void;
}

/** Dialog to create a token. */
function CreateToken({ account, onCreated, onClose }: CreateTokenProps) {
  const create = useCreateToken();
  const [name, setName] = useState("");
  const [limits, setLimits] = useState<TokenLimits>({
    scopes: ["read"],
    project: null,
    days: defaultDays(account.max_token_days),
  });
  const { byField, general } = create.error
    ? placeErrors(create.error, ["name", "scopes", "project", "days"])
    : { byField: {} as Record<string, string>, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    create.mutate(
      { name: name.trim(), ...limits },
      {
        onSuccess: (token) => {
          onClose();
          onCreated(token);
        },
      },
    );
  }

  return (
    <Modal opened onClose={onClose} title="Create token" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            data-autofocus
            label="Name"
            description="Its use, such as cluster or notebook"
            maxLength={100}
            value={name}
            error={byField.name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TokenFields
            limits={limits}
            maxDays={account.max_token_days}
            offered={account.is_administrator ? [...SCOPES, "worker"] : SCOPES}
            problems={byField}
            onChange={setLimits}
          />
          <FormErrors messages={general} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={create.isPending}
              disabled={!name.trim() || limits.scopes.length === 0}
            >
              Create token
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface SecretBoxProps {
  title: string;
  label: string;
  secret: string;
  onClose: () => void;
  children: ReactNode;
}

/** Dialog with a secret that is shown once, such as a link or a token. */
function SecretBox({ title, label, secret, onClose, children }: SecretBoxProps) {
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      <Stack gap="md">
        <Text size="sm">{children}</Text>
        <Group gap="xs" wrap="nowrap">
          <TextInput
            aria-label={label}
            value={secret}
            readOnly
            className={classes.link ?? ""}
            style={{ flex: 1 }}
            onFocus={(event) => event.currentTarget.select()}
            data-autofocus
          />
          <CopyText label="Copy" text={secret} />
        </Group>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
