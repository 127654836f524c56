import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@/theme/global.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { readableRed, theme } from "@/theme/theme";

interface ProvidersProps {
  client: QueryClient;
  /** "test" where nothing is laid out: Mantine would hide each menu, since its button has no place on the screen. */
  env?: "default" | "test";
  children: ReactNode;
}

export function Providers({ client, env = "default", children }: ProvidersProps) {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={readableRed} defaultColorScheme="auto" env={env}>
      <QueryClientProvider client={client}>
        <Notifications position="bottom-right" limit={4} />
        {children}
      </QueryClientProvider>
    </MantineProvider>
  );
}
