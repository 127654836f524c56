import { Button, Group, Skeleton, Stack, Switch, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import {
  alertChannelsQuery,
  alertRulesQuery,
  useEditChannel,
  useRemoveChannel,
  useTestChannel,
} from "@/api/alerts";
import type { AlertChannel } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { notifyDone } from "@/ui/notify";
import { QueryError } from "@/ui/QueryError";
import { AddChannel } from "./AddChannel";
import classes from "./alerts.module.css";
import { BrowserChannel } from "./BrowserChannel";
import { DeliveryHistory } from "./DeliveryHistory";

/** Where alerts are delivered to: this browser, and other programs. */
export function ChannelsTab() {
  const channels = useQuery(alertChannelsQuery);
  const [adding, add] = useDisclosure(false);
  return (
    <Stack gap="md">
      <BrowserChannel />
      <section className={classes.card} aria-label="Channels">
        <Group justify="space-between" gap="xs">
          <Title order={2}>Other programs</Title>
          <Button size="xs" variant="default" leftSection={<IconPlus size={16} />} onClick={add.open}>
            Add channel
          </Button>
        </Group>
        <Text size="sm" c="dimmed" mt={4}>
          A channel sends new alerts to an address, and repeats failed deliveries for about a day.
        </Text>
        {channels.isError && !channels.data && (
          <QueryError error={channels.error} retry={() => void channels.refetch()} />
        )}
        {channels.isPending && (
          <Skeleton height={64} mt="xs" radius="sm" role="status" aria-label="Loading channels…" />
        )}
        {channels.data?.length === 0 && (
          <Text size="sm" mt="xs">
            There are no channels yet.
          </Text>
        )}
        {channels.data?.map((channel) => (
          <Channel key={channel.id} channel={channel} />
        ))}
      </section>
      {channels.data && channels.data.length > 0 && <DeliveryHistory />}
      {adding && <AddChannel onClose={add.close} />}
    </Stack>
  );
}

function Channel({ channel }: { channel: AlertChannel }) {
  const edit = useEditChannel();
  const test = useTestChannel();
  const [removing, remove] = useDisclosure(false);
  const sendTest = () =>
    test.mutate(channel.id, {
      onSuccess: () => notifyDone(`A test is on its way to ${channel.name}. The history shows its outcome.`),
    });
  return (
    <div className={classes.rule}>
      <div className={classes.words}>
        <Switch
          label={channel.name}
          checked={edit.isPending ? (edit.variables.enabled ?? channel.enabled) : channel.enabled}
          onChange={(event) => edit.mutate({ id: channel.id, enabled: event.currentTarget.checked })}
        />
        <p className={classes.dim}>
          {channel.address} · <Kinds kinds={channel.kinds} />
        </p>
        {channel.problem && <p className={classes.problem}>{channel.problem}</p>}
      </div>
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          aria-label={`Send a test to ${channel.name}`}
          disabled={!channel.enabled}
          loading={test.isPending}
          onClick={sendTest}
        >
          Send a test
        </Button>
        <Button size="xs" variant="default" aria-label={`Remove ${channel.name}`} onClick={remove.open}>
          Remove
        </Button>
      </Group>
      {removing && <RemoveChannel channel={channel} onClose={remove.close} />}
    </div>
  );
}

function Kinds({ kinds }: { kinds: AlertChannel["kinds"] }) {
  const rules = useQuery(alertRulesQuery);
  if (kinds === null) return "all alerts";
  const titles = kinds.map((kind) => rules.data?.find((rule) => rule.kind === kind)?.title ?? kind);
  return titles.length > 0 ? titles.join(", ") : "no alerts";
}

function RemoveChannel({ channel, onClose }: { channel: AlertChannel; onClose: () => void }) {
  const remove = useRemoveChannel();
  return (
    <ConfirmModal
      opened
      title={`Remove ${channel.name}?`}
      action="Remove channel"
      danger
      busy={remove.isPending}
      onConfirm={() => remove.mutate(channel.id, { onSettled: onClose })}
      onClose={onClose}
    >
      <Text size="sm">Its history is deleted. Alerts on their way to it are not delivered.</Text>
    </ConfirmModal>
  );
}
