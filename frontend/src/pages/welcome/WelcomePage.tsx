import { Anchor, Button, Center, Paper, Stack, Text, Title } from "@mantine/core";
import { useEffect, useState, type FormEvent } from "react";
import { Link, useNavigate } from "react-router";
import { useAcceptLink, useReadLink } from "@/api/people";
import type { OneTimeLink } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { AccountFields, NewPasswordInput } from "@/ui/AccountFields";
import { FormErrors } from "@/ui/FormErrors";
import { usePageTitle } from "@/ui/usePageTitle";

const TITLES: Record<OneTimeLink["purpose"], string> = {
  first: "Create the first account",
  invite: "Welcome to Arcadia",
  reset: "Choose a new password",
};

/** Page of a one-time link: the first account, an invitation, or a new password. The secret is after the #. */
export default function WelcomePage() {
  usePageTitle("Welcome");
  const [secret] = useState(() => window.location.hash.slice(1));
  const { mutate, data, error } = useReadLink();
  useEffect(() => mutate(secret), [mutate, secret]);
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="lg" w={400} maw="100%">
        {data ? (
          <PasswordForm secret={secret} link={data} />
        ) : error ? (
          <Stack gap="md">
            <Title order={1}>This link does not work</Title>
            <Text size="sm">{error.message}</Text>
            <Anchor component={Link} to="/" size="sm">
              Go to sign-in
            </Anchor>
          </Stack>
        ) : (
          <Text c="dimmed" role="status">
            Checking the link…
          </Text>
        )}
      </Paper>
    </Center>
  );
}

function PasswordForm({ secret, link }: { secret: string; link: OneTimeLink }) {
  const navigate = useNavigate();
  const accept = useAcceptLink();
  const [account, setAccount] = useState({ name: "", email: "", password: "" });
  const { name, email, password } = account;
  const isFirst = link.purpose === "first";
  const { byField, general } = accept.error
    ? placeErrors(accept.error, ["name", "email", "password"])
    : { byField: {} as Record<string, string>, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    accept.mutate(
      { secret, password, ...(isFirst && { name: name.trim(), email: email.trim() }) },
      { onSuccess: () => void navigate("/", { replace: true }) },
    );
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Title order={1}>{TITLES[link.purpose]}</Title>
        {isFirst ? (
          <>
            <Text size="sm">
              You become administrator of this installation. From then on everyone signs in.
            </Text>
            <AccountFields account={account} problems={byField} onChange={setAccount} />
          </>
        ) : (
          <>
            <Text size="sm">
              Hello {link.name}. Choose a password, and sign in with {link.email} from now on.
            </Text>
            {/* Lets password managers store the password with the address. */}
            <input type="text" autoComplete="username" value={link.email ?? ""} readOnly hidden />
            <NewPasswordInput
              value={password}
              error={byField.password}
              onChange={(chosen) => setAccount({ ...account, password: chosen })}
              autoFocus
            />
          </>
        )}
        <FormErrors messages={general} />
        <Button type="submit" loading={accept.isPending} disabled={!password}>
          {isFirst ? "Create account" : "Save password and sign in"}
        </Button>
      </Stack>
    </form>
  );
}
