import { Text } from "@mantine/core";

/** What the server refused of a form and no field of it shows. */
export function Refusals({ sentences }: { sentences: readonly string[] }) {
  return sentences.map((sentence) => (
    <Text key={sentence} size="sm" c="var(--mantine-color-error)" role="alert">
      {sentence}
    </Text>
  ));
}
