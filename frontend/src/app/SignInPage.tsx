import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { useSignIn } from "@/api/session";
import { usePageTitle } from "@/ui/usePageTitle";

/** Asks for the token when this server wants one. */
export function SignInPage() {
  usePageTitle("Sign in");
  const [token, setToken] = useState("");
  const signIn = useSignIn();

  function submit(event: FormEvent) {
    event.preventDefault();
    signIn.mutate(token.trim());
  }

  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="lg" w={400} maw="100%">
        <form onSubmit={submit}>
          <Stack gap="md">
            <Title order={1}>Arcadia</Title>
            <Text size="sm">
              This server asks for its access token: the value of ARCADIA_TOKEN where it was started.
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
      </Paper>
    </Center>
  );
}
