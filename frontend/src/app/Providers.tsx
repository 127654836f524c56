import "@/theme/mantine.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "@/theme/global.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { readableRed, theme } from "@/theme/theme";

interface ProvidersProps {
  client: QueryClient;
  /** Use "test" without a layout. Otherwise Mantine hides each menu because its button has no position. */
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
