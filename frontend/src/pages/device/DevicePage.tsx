import { Anchor, Button, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, type FormEvent } from "react";
import { Link } from "react-router";
import { useConfirmLogin, useReadLogin, useRefuseLogin } from "@/api/people";
import { accountQuery } from "@/api/session";
import type { Account, WaitingLogin } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { EmptyState } from "@/ui/EmptyState";
import { FormErrors } from "@/ui/FormErrors";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { defaultDays, TokenFields, type TokenLimits } from "@/ui/TokenFields";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./device.module.css";

/** Page on which a person confirms the code of `arcadia login`. The code may be after the #. */
export default function DevicePage() {
  usePageTitle("Confirm a login");
  const account = useQuery(accountQuery);
  return (
    <Stack gap="md" className={classes.sheet ?? ""}>
      <Title order={1}>Confirm a login</Title>
      {account.isError && !account.data && (
        <QueryError error={account.error} retry={() => void account.refetch()} />
      )}
      {account.data && !account.data.person && (
        <EmptyState title="You have no account here">
          Only a person with an account can confirm a login.
        </EmptyState>
      )}
      {account.data?.person && <Login account={account.data} />}
    </Stack>
  );
}

function Login({ account }: { account: Account }) {
  const [given] = useState(() => decodeURIComponent(window.location.hash.slice(1)));
  const [code, setCode] = useState(given);
  const [answer, setAnswer] = useState<"confirmed" | "refused">();
  const { mutate, data, error, isPending } = useReadLogin();
  useEffect(() => {
    if (given) mutate(given);
  }, [mutate, given]);

  if (answer)
    return (
      <section className={classes.card} aria-label="Result">
        <Title order={2}>{answer === "confirmed" ? "Login confirmed" : "Login refused"}</Title>
        <Text size="sm" mt={4} role="status">
          {answer === "confirmed"
            ? "The terminal is signed in within seconds. You can close this page. "
            : "The terminal got no token. You can close this page. "}
          {answer === "confirmed" && (
            <Anchor component={Link} to="/settings/tokens">
              Your tokens
            </Anchor>
          )}
        </Text>
      </section>
    );
  if (data) return <Answer account={account} code={code} login={data} onAnswer={setAnswer} />;

  function submit(event: FormEvent) {
    event.preventDefault();
    mutate(code);
  }
  return (
    <form onSubmit={submit} className={classes.card} aria-label="Code">
      <Stack gap="md">
        <TextInput
          label="Code"
          description="The terminal shows it after arcadia login."
          placeholder="BCDF-GHJK"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={20}
          value={code}
          error={error?.message}
          onChange={(event) => setCode(event.currentTarget.value)}
          autoFocus
        />
        <Group justify="flex-end">
          <Button type="submit" loading={isPending} disabled={!code.trim()}>
            Continue
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface AnswerProps {
  account: Account;
  code: string;
  login: WaitingLogin;
  onAnswer: (answer: "confirmed" | "refused") => void;
}

/** Who asks for a token, and what it may do. */
function Answer({ account, code, login, onAnswer }: AnswerProps) {
  const confirm = useConfirmLogin();
  const refuse = useRefuseLogin();
  const offered = login.scopes.filter((scope) => scope !== "worker" || account.is_administrator);
  const [limits, setLimits] = useState<TokenLimits>({
    scopes: offered,
    project: null,
    days: defaultDays(account.max_token_days),
  });
  const error = confirm.error ?? refuse.error;
  const { byField, general } = error
    ? placeErrors(error, ["scopes", "project", "days"])
    : { byField: {} as Record<string, string>, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    confirm.mutate({ code, ...limits }, { onSuccess: () => onAnswer("confirmed") });
  }
  return (
    <form onSubmit={submit} className={classes.card} aria-label="Login">
      <Stack gap="md">
        <Text size="sm">
          A terminal asks to use Arcadia as {account.person?.name}. Confirm only if you started it yourself,
          and it shows this code:
        </Text>
        <div className={classes.code}>{spelled(code)}</div>
        <dl className={classes.facts}>
          <dt>Terminal</dt>
          <dd>{login.name}</dd>
          <dt>Address</dt>
          <dd>{login.address}</dd>
          <dt>Started</dt>
          <dd>
            <TimeAgo time={login.created_at} />
          </dd>
        </dl>
        <TokenFields
          limits={limits}
          offered={offered}
          maxDays={account.max_token_days}
          problems={byField}
          onChange={setLimits}
        />
        <FormErrors messages={general} />
        <Group justify="flex-end" gap="xs">
          <Button
            variant="default"
            loading={refuse.isPending}
            onClick={() => refuse.mutate(code, { onSuccess: () => onAnswer("refused") })}
          >
            Refuse
          </Button>
          <Button type="submit" loading={confirm.isPending} disabled={limits.scopes.length === 0}>
            Confirm login
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Return a code as the terminal shows it. */
function spelled(code: string): string {
  const letters = code.toUpperCase().replace(/[^A-Z]/g, "");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}
