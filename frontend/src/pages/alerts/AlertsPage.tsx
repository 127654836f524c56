import { Stack, Tabs, Text, Title } from "@mantine/core";
import type { ComponentType } from "react";
import { useNavigate, useParams } from "react-router";
import { usePageTitle } from "@/ui/usePageTitle";
import { AlertList } from "./AlertList";
import classes from "./alerts.module.css";
import { ChannelsTab } from "./ChannelsTab";
import { RulesTab } from "./RulesTab";

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
