import "@/theme/mantine.css";
import "@/theme/global.css";
import { MantineProvider } from "@mantine/core";
import { useNotifications } from "@mantine/notifications";
import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Hints } from "@/ui/Hint";
import { lazyPart } from "@/ui/lazyPart";
import { readableRed, theme } from "@/theme/theme";
import { SignInAgain } from "./SignInAgain";

const Notifications = lazyPart(() => import("./Notifications").then((module) => module.Notifications));

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
        <FirstNotifications />
        <Hints />
        <SignInAgain />
        {children}
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** The notifications, whose code is loaded for the first one. */
function FirstNotifications() {
  const { notifications, queue } = useNotifications();
  const [isUsed, setUsed] = useState(false);
  if (!isUsed && notifications.length + queue.length > 0) setUsed(true);
  return isUsed && <Notifications position="bottom-right" limit={4} />;
}
