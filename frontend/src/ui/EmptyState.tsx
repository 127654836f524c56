import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyStateProps {
  title: string;
  /** True if the page shows nothing else. The title is then the page's heading. */
  alone?: boolean;
  children: ReactNode;
}

/** Placeholder of an empty page or list that says what to do first. */
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
