import { Alert, Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { providerAddress, signInMethodsQuery, useSignIn } from "@/api/session";
import { usePageTitle } from "@/ui/usePageTitle";
import { useSignInFailure } from "@/ui/useSignInFailure";
import { Connecting } from "./Connecting";

/** Form for e-mail address and password, or before the first account for the access token of the server. */
export function SignInPage() {
  usePageTitle("Sign in");
  const failure = useSignInFailure();
  const methods = useQuery(signInMethodsQuery);
  if (methods.isPending) return <Connecting />;
  const { password = false, token = true, openid = false } = methods.data ?? {};
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="lg" w={400} maw="100%">
        {failure && (
          <Alert color="red" title="You are not signed in" mb="md" role="alert">
            {failure}
          </Alert>
        )}
        {password ? <PasswordForm openid={openid} /> : token ? <TokenForm /> : <NoAccount />}
      </Paper>
    </Center>
  );
}

function PasswordForm({ openid }: { openid: boolean }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const signIn = useSignIn();
  function submit(event: FormEvent) {
    event.preventDefault();
    signIn.mutate({ email: email.trim(), password });
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Title order={1}>Sign in to Arcadia</Title>
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="username"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          autoFocus
          required
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={signIn.error?.message}
          required
        />
        <Button type="submit" loading={signIn.isPending} disabled={!email.trim() || !password}>
          Sign in
        </Button>
        {openid && (
          <Button
            component="a"
            variant="default"
            href={providerAddress(window.location.pathname + window.location.search)}
          >
            Sign in at your provider
          </Button>
        )}
        <Text size="xs" c="dimmed">
          No account, or no password? An administrator can send you a link.
        </Text>
      </Stack>
    </form>
  );
}

function TokenForm() {
  const [token, setToken] = useState("");
  const signIn = useSignIn();
  function submit(event: FormEvent) {
    event.preventDefault();
    signIn.mutate({ token: token.trim() });
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Title order={1}>Arcadia</Title>
        <Text size="sm">
          Enter the server's access token. It is the value of ARCADIA_TOKEN on the server.
        </Text>
        <PasswordInput
          label="Access token"
          autoComplete="current-password"
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          error={signIn.error?.message}
          autoFocus
          required
        />
        <Button type="submit" loading={signIn.isPending} disabled={!token.trim()}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

function NoAccount() {
  return (
    <Stack gap="md">
      <Title order={1}>Arcadia</Title>
      <Text size="sm">
        Nobody has an account yet. Open the link that <code>arcadia up</code> printed when it started, or run{" "}
        <code>arcadia user add NAME EMAIL</code> on the server.
      </Text>
    </Stack>
  );
}
