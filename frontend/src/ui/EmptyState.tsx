import { Stack, Text, Title } from "@mantine/core";
import type { Icon } from "@tabler/icons-react";
import type { ReactNode } from "react";
import classes from "./EmptyState.module.css";

interface EmptyStateProps {
  title: string;
  /** Picture of what will appear here. */
  icon?: Icon;
  /** True if the page shows nothing else. The title is then the page's heading. */
  alone?: boolean;
  children: ReactNode;
}

/** Placeholder of an empty page or list that says what to do first. */
export function EmptyState({ title, icon: Picture, alone = false, children }: EmptyStateProps) {
  return (
    <Stack align="center" gap="xs" py={64} px="md" ta="center">
      {Picture && (
        <span className={classes.picture}>
          <Picture size={40} stroke={1.25} aria-hidden />
        </span>
      )}
      <Title order={alone ? 1 : 2}>{title}</Title>
      <Text component="div" c="dimmed" maw={560}>
        {children}
      </Text>
    </Stack>
  );
}
