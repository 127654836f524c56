import { ActionIcon, Tooltip } from "@mantine/core";
import { IconBell } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link, useNavigate } from "react-router";
import { alertKeys, newestAlertsQuery } from "@/api/alerts";
import { useLiveEvents } from "@/api/live/LiveProvider";
import { ofAny } from "@/api/topics";
import { showNewAlerts } from "@/ui/browserNotifications";
import classes from "./Shell.module.css";

const MAX_COUNT = 99;

/** Link to the alerts with the number of unread ones. It also shows new alerts as notifications of the browser. */
export function AlertBell() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data } = useQuery(newestAlertsQuery);
  useLiveEvents(ofAny("alerts.changed"), ({ kind }) => {
    // Also in a hidden tab, because notifications are most useful there.
    if (kind === "alerts.changed" || kind === "refetch")
      void client.invalidateQueries({ queryKey: alertKeys.all });
  });
  useEffect(() => {
    if (data) showNewAlerts(data.items, (path) => void navigate(path));
  }, [data, navigate]);
  const unread = data?.unread ?? 0;
  const name = unread > 0 ? `Alerts, ${unread} unread` : "Alerts";
  return (
    <Tooltip label={name}>
      <ActionIcon component={Link} to="/alerts" size={32} aria-label={name} className={classes.bell}>
        <IconBell size={18} stroke={1.75} />
        {unread > 0 && (
          <span className={classes.unread} aria-hidden>
            {unread > MAX_COUNT ? `${MAX_COUNT}+` : unread}
          </span>
        )}
      </ActionIcon>
    </Tooltip>
  );
}
