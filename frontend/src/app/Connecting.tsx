import { Center, Text } from "@mantine/core";

/** Placeholder until the server answers the first request. */
export function Connecting() {
  return (
    <Center h="100vh">
      <Text c="dimmed">Connecting to Arcadia…</Text>
    </Center>
  );
}
