import { Alert, Button, Group, Text } from "@mantine/core";

/** Note that a form shows a restored draft. */
export function RestoredDraftNote({ onStartOver }: { onStartOver: () => void }) {
  return (
    <Alert variant="default" p="xs">
      <Group justify="space-between">
        <Text size="sm">Your draft was restored.</Text>
        <Button size="compact-sm" variant="default" onClick={onStartOver}>
          Start over
        </Button>
      </Group>
    </Alert>
  );
}
