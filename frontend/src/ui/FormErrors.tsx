import { Text } from "@mantine/core";

/** Form errors from the server that belong to no field. */
export function FormErrors({ messages }: { messages: readonly string[] }) {
  return messages.map((sentence) => (
    <Text key={sentence} size="sm" c="var(--mantine-color-error)" role="alert">
      {sentence}
    </Text>
  ));
}
