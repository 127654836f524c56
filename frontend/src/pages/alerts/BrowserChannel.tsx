import { Button, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { newestAlertsQuery } from "@/api/alerts";
import {
  notificationState,
  startNotifications,
  stopNotifications,
  type NotificationState,
} from "@/ui/browserNotifications";
import classes from "./alerts.module.css";

const EXPLAINED: Record<NotificationState, string> = {
  on: "New alerts appear as notifications of this browser while a page of Arcadia is open, also in the background.",
  off: "New alerts can appear as notifications of this browser while a page of Arcadia is open.",
  denied:
    "This browser blocks notifications of this page. Allow them in the browser's settings for this site, then reload.",
  unsupported:
    "This browser cannot show notifications of this page. They need https or localhost, and do not work on phones.",
};

/** Card that turns notifications of this browser on or off. */
export function BrowserChannel() {
  const [state, setState] = useState(notificationState);
  const newest = useQuery(newestAlertsQuery);
  async function start() {
    setState(await startNotifications(newest.data?.items[0]?.id ?? 0));
  }
  function stop() {
    stopNotifications();
    setState(notificationState());
  }
  return (
    <section className={classes.card} aria-label="This browser">
      <Group justify="space-between" gap="xs">
        <Title order={2}>This browser</Title>
        {state === "off" && (
          <Button size="xs" variant="default" disabled={newest.isPending} onClick={() => void start()}>
            Notify in this browser
          </Button>
        )}
        {state === "on" && (
          <Button size="xs" variant="default" onClick={stop}>
            Stop notifications
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed" mt={4} role="status">
        {EXPLAINED[state]}
      </Text>
    </section>
  );
}
