import {
  ActionIcon,
  Anchor,
  Button,
  Group,
  NativeSelect,
  Skeleton,
  Stack,
  Switch,
  Tabs,
  Text,
  Title,
  Tooltip,
} from "@mantine/core";
import { IconAlertCircle, IconAlertTriangle, IconBell, IconCheck, IconInfoCircle } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { alertRulesQuery, alertsQuery, useMarkRead } from "@/api/alerts";
import { useMayWrite } from "@/api/projects";
import type { Alert } from "@/api/types";
import { pageOfAlert } from "@/ui/browserNotifications";
import { EmptyState } from "@/ui/EmptyState";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { ChannelsTab } from "./ChannelsTab";
import { RulesTab } from "./RulesTab";
import classes from "./alerts.module.css";

const TABS: { value: string; label: string; Content: ComponentType }[] = [
  { value: "list", label: "Alerts", Content: AlertList },
  { value: "rules", label: "Rules", Content: RulesTab },
  { value: "channels", label: "Channels", Content: ChannelsTab },
];

/** Alerts, the rules that raise them, and the channels that deliver them. The URL names the tab. */
export default function AlertsPage() {
  usePageTitle("Alerts");
  const { tab } = useParams();
  const navigate = useNavigate();
  const current = TABS.find(({ value }) => value === tab)?.value ?? "list";
  const open = (value: string | null) =>
    void navigate(value && value !== "list" ? `/alerts/${value}` : "/alerts", { replace: true });
  return (
    <Stack className={classes.sheet} gap="md">
      <Stack gap={4}>
        <Title order={1}>Alerts</Title>
        <Text size="sm" c="dimmed">
          Ends and problems of runs, verdicts of studies, and problems of this server.
        </Text>
      </Stack>
      <Tabs value={current} onChange={open} keepMounted={false}>
        <Tabs.List>
          {TABS.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {TABS.map(({ value, Content }) => (
          <Tabs.Panel key={value} value={value} pt="md">
            <Content />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  );
}

const LEVELS = {
  info: { name: "Information", Sign: IconInfoCircle },
  warning: { name: "Warning", Sign: IconAlertTriangle },
  error: { name: "Error", Sign: IconAlertCircle },
};

/** All alerts, newest first. The URL has the filters. */
function AlertList() {
  const [search, setSearch] = useSearchParams();
  const rules = useQuery(alertRulesQuery);
  const kind = rules.data?.find((rule) => rule.kind === search.get("kind"))?.kind ?? null;
  const unread = search.get("unread") === "true";
  const alerts = useInfiniteQuery(alertsQuery({ unread, kind }));
  const items = alerts.data?.pages.flatMap((page) => page.items);
  const choose = (name: string, value: string) =>
    setSearch(
      (before) => {
        if (value) before.set(name, value);
        else before.delete(name);
        return before;
      },
      { replace: true },
    );
  return (
    <Stack gap="md">
      <Group gap="md">
        <NativeSelect
          aria-label="Kind"
          value={kind ?? ""}
          onChange={(event) => choose("kind", event.currentTarget.value)}
          data={[
            { value: "", label: "All kinds" },
            ...(rules.data ?? []).map(({ kind: value, title: label }) => ({ value, label })),
          ]}
        />
        <Switch
          label="Only unread"
          checked={unread}
          onChange={(event) => choose("unread", event.currentTarget.checked ? "true" : "")}
        />
        <MarkAllRead newest={items?.[0]} unread={alerts.data?.pages[0]?.unread ?? 0} />
      </Group>
      {alerts.isError && !items && <QueryError error={alerts.error} retry={() => void alerts.refetch()} />}
      {alerts.isPending && <Skeleton height={160} radius="sm" role="status" aria-label="Loading alerts…" />}
      {items?.length === 0 && <NoAlerts filtered={unread || kind !== null} />}
      {items && items.length > 0 && (
        <ul className={`${classes.card} ${classes.list}`} aria-label="Alerts">
          {items.map((alert) => (
            <AlertRow key={alert.id} alert={alert} />
          ))}
        </ul>
      )}
      {alerts.hasNextPage && (
        <Button
          variant="default"
          w="fit-content"
          loading={alerts.isFetchingNextPage}
          onClick={() => void alerts.fetchNextPage()}
        >
          Show older alerts
        </Button>
      )}
    </Stack>
  );
}

function NoAlerts({ filtered }: { filtered: boolean }) {
  if (filtered) return <EmptyState title="No matching alerts">Change the filters to see others.</EmptyState>;
  return (
    <EmptyState icon={IconBell} title="No alerts yet">
      An alert appears here when a run ends, fails or stalls, and when a study has a verdict. Channels send
      them to other programs, such as Slack or e-mail.
    </EmptyState>
  );
}

function MarkAllRead({ newest, unread }: { newest: Alert | undefined; unread: number }) {
  const mark = useMarkRead();
  const mayWrite = useMayWrite();
  if (!newest || unread === 0 || !mayWrite) return null;
  return (
    <Button
      variant="default"
      size="xs"
      loading={mark.isPending}
      // Alerts that arrived since stay unread.
      onClick={() => mark.mutate({ up_to: newest.id })}
    >
      Mark all as read
    </Button>
  );
}

function AlertRow({ alert }: { alert: Alert }) {
  const mark = useMarkRead();
  const { name, Sign } = LEVELS[alert.level];
  const isUnread = alert.read_at === null;
  const markRead = () => mark.mutate({ ids: [alert.id] });
  const page = pageOfAlert(alert);
  return (
    <li className={classes.alert} data-unread={isUnread || undefined}>
      <Sign size={20} role="img" aria-label={name} className={classes.level} data-level={alert.level} />
      <div className={classes.words}>
        <div className={classes.title}>
          {page === "/alerts" ? (
            alert.title
          ) : (
            <Anchor component={Link} to={page} inherit onClick={isUnread ? markRead : undefined}>
              {alert.title}
            </Anchor>
          )}
        </div>
        {alert.text && <p className={classes.text}>{alert.text}</p>}
        <p className={classes.dim}>
          <TimeAgo time={alert.created_at} />
          {alert.ended_at && (
            <>
              {" "}
              · ended <TimeAgo time={alert.ended_at} />
            </>
          )}
        </p>
      </div>
      {isUnread && (
        <Tooltip label="Mark as read">
          <ActionIcon aria-label={`Mark as read: ${alert.title}`} loading={mark.isPending} onClick={markRead}>
            <IconCheck size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </li>
  );
}
