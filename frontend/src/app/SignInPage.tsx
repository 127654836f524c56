import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { useSignIn } from "@/api/session";
import { usePageTitle } from "@/ui/usePageTitle";

/** Form for the access token of the server. */
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
      </Paper>
    </Center>
  );
}
