import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconZoomQuestion } from "@tabler/icons-react";
import { isNotFound } from "@/api/problem";

/** Says why something could not be loaded, and offers to try again where that can help. */
export function QueryProblem({ error, retry }: { error: Error; retry?: () => void }) {
  if (isNotFound(error)) return <Missing error={error} />;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconAlertTriangle aria-hidden />}
      title="This could not be loaded"
    >
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

/** Trying again does not help here. */
function Missing({ error }: { error: Error }) {
  return (
    <Alert color="gray" variant="light" icon={<IconZoomQuestion aria-hidden />} title="Not found">
      <Text size="sm">{error.message}</Text>
    </Alert>
  );
}
