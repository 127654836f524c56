import { Alert, Button, Group, Text } from "@mantine/core";

/** Says that a form has what was typed and left before. */
export function RestoredNote({ onBeginAnew }: { onBeginAnew: () => void }) {
  return (
    <Alert variant="default" p="xs">
      <Group justify="space-between">
        <Text size="sm">What you had written here is back.</Text>
        <Button size="compact-sm" variant="default" onClick={onBeginAnew}>
          Begin anew
        </Button>
      </Group>
    </Alert>
  );
}
