import { Alert, Button, Stack, Text } from "@mantine/core";

interface MissingRunsProps {
  missing: readonly number[];
  onRemove: (runs: readonly number[]) => void;
}

/** Note that names the runs in the URL that do not exist. The page compares the others. */
export function MissingRuns({ missing, onRemove }: MissingRunsProps) {
  if (missing.length === 0) return null;
  const one = missing.length === 1;
  return (
    <Alert
      color="yellow"
      variant="light"
      title={one ? `Run ${missing[0]} does not exist` : `Runs ${missing.join(", ")} do not exist`}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{`${one ? "It was" : "They were"} deleted, or the URL is wrong. The other runs are still compared.`}</Text>
        <Button size="xs" variant="default" onClick={() => onRemove(missing)}>
          Remove from comparison
        </Button>
      </Stack>
    </Alert>
  );
}
