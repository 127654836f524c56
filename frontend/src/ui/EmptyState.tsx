import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyStateProps {
  title: string;
  /** Whether it is all that the page shows, so that its title is the page's. */
  alone?: boolean;
  children: ReactNode;
}

/** An empty page says what to do first. */
export function EmptyState({ title, alone = false, children }: EmptyStateProps) {
  return (
    <Stack align="center" gap="xs" py={64} px="md" ta="center">
      <Title order={alone ? 1 : 2}>{title}</Title>
      <Text component="div" c="dimmed" maw={560}>
        {children}
      </Text>
    </Stack>
  );
}
