import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconZoomQuestion } from "@tabler/icons-react";
import { isNotFound } from "@/api/problem";

/** Shows why a request failed, with a retry button if that can help. */
export function QueryError({ error, retry }: { error: Error; retry?: () => void }) {
  if (isNotFound(error)) return <Missing error={error} />;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle aria-hidden />} title="Could not load this">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** Message for an object that does not exist. It has no retry button. */
function Missing({ error }: { error: Error }) {
  return (
    <Alert color="gray" variant="light" icon={<IconZoomQuestion aria-hidden />} title="Not found">
      <Text size="sm">{error.message}</Text>
      <Text size="sm">It may have been deleted, or you have no access to its project.</Text>
    </Alert>
  );
}
