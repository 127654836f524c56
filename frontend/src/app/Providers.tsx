import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@/theme/global.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { readableRed, theme } from "@/theme/theme";

export function Providers({ client, children }: { client: QueryClient; children: ReactNode }) {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={readableRed} defaultColorScheme="auto">
      <QueryClientProvider client={client}>
        <Notifications position="bottom-right" limit={4} />
        {children}
      </QueryClientProvider>
    </MantineProvider>
  );
}
