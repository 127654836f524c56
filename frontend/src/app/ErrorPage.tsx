import { Button, Code, Container, Group, Stack, Text, Title } from "@mantine/core";
import { EmptyState } from "@/ui/EmptyState";
import { CodeMissingError } from "@/ui/loadCode";
import { isRouteErrorResponse, useRouteError } from "react-router";

/** Shows why a page failed, with buttons to reload or leave it. */
export function ErrorPage() {
  const error = useRouteError();
  if (error instanceof CodeMissingError) return <CodeMissing error={error} />;
  return (
    <Container size="sm" py="xl">
      <Stack gap="md" role="alert">
        <Title order={1}>This page failed</Title>
        <Text>Your runs keep training. Reload page. This often helps after an update of Arcadia.</Text>
        <Code block>{messageOf(error)}</Code>
        <Group>
          <Button onClick={() => window.location.reload()}>Reload page</Button>
          <Button variant="default" component="a" href="/">
            Go to runs
          </Button>
        </Group>
      </Stack>
    </Container>
  );
}

function CodeMissing({ error }: { error: CodeMissingError }) {
  return (
    <EmptyState title="This page could not be loaded" alone>
      <Stack align="center" gap="sm" role="alert">
        <span>{error.message} Your runs keep training.</span>
        <Button variant="default" onClick={() => window.location.reload()}>
          Reload page
        </Button>
      </Stack>
    </EmptyState>
  );
}

function messageOf(error: unknown): string {
  if (isRouteErrorResponse(error)) return `${error.status} ${error.statusText}`;
  return error instanceof Error ? error.message : String(error);
}
