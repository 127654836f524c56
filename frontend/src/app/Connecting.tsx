import { Center, Text } from "@mantine/core";

/** What stands there until the server has answered for the first time. */
export function Connecting() {
  return (
    <Center h="100vh">
      <Text c="dimmed">Connecting to Arcadia…</Text>
    </Center>
  );
}
