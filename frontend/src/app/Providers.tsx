import { MantineProvider } from "@mantine/core";
import { useNotifications } from "@mantine/notifications";
import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { onOldSession } from "@/api/client";
import { readableRed, theme } from "@/theme/theme";
import { Hints } from "@/ui/Hint";
import { lazyPart } from "@/ui/lazyPart";
import "@/theme/mantine.css";
// After the styles of Mantine, which it overrides.
import "@/theme/global.css";

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

const SignInAgainDialog = lazyPart(() =>
  import("./SignInAgainDialog").then((module) => module.SignInAgainDialog),
);

type Answer = (proved: boolean) => void;

/** Opens a dialog when an action needs a person who has just signed in. The action continues afterwards. */
function SignInAgain() {
  const [answer, setAnswer] = useState<Answer>();
  useEffect(() => {
    onOldSession(
      () =>
        new Promise((resolve) =>
          // Several requests wait for one dialog.
          setAnswer((waiting: Answer | undefined) => (proved: boolean) => {
            waiting?.(proved);
            resolve(proved);
          }),
        ),
    );
    return () => onOldSession(undefined);
  }, []);
  if (!answer) return null;
  return (
    <SignInAgainDialog
      onAnswer={(proved) => {
        setAnswer(undefined);
        answer(proved);
      }}
    />
  );
}
