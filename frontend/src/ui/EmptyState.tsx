import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** An empty page says what to do first. */
export function EmptyState({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py={64} px="md" ta="center">
      <Title order={2}>{title}</Title>
      <Text component="div" c="dimmed" maw={560}>
        {children}
      </Text>
    </Stack>
  );
}
