import {
  Button,
  Group,
  Modal,
  MultiSelect,
  NativeSelect,
  Skeleton,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  alertChannelsQuery,
  alertRulesQuery,
  deliveriesQuery,
  newestAlertsQuery,
  useAddChannel,
  useEditChannel,
  useRemoveChannel,
  useSendAgain,
  useTestChannel,
} from "@/api/alerts";
import type { AddedChannel, AlertChannel, AlertDelivery, RuleKind } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import {
  notificationState,
  type NotificationState,
  startNotifications,
  stopNotifications,
} from "@/ui/browserNotifications";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { CopyText } from "@/ui/CopyText";
import { DataTable } from "@/ui/DataTable";
import { plural } from "@/ui/format";
import { FormErrors } from "@/ui/FormErrors";
import { notifyDone } from "@/ui/notify";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import classes from "./alerts.module.css";

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

type Kind = AlertChannel["kind"];

const ADDRESSES: Record<Kind, { label: string; description: string; placeholder: string }> = {
  webhook: {
    label: "Webhook address",
    description: "Gets each alert as a signed POST request.",
    placeholder: "https://example.org/hook",
  },
  apprise: {
    label: "Apprise URL",
    description: "A service with its tokens, as described on appriseit.com.",
    placeholder: "slack://TOKEN_A/TOKEN_B/TOKEN_C",
  },
};

/** Dialog to add a channel. It shows the secret of a webhook once. */
function AddChannel({ onClose }: { onClose: () => void }) {
  const [added, setAdded] = useState<AddedChannel>();
  return (
    <Modal
      opened
      onClose={onClose}
      title={added ? `${added.name} is added` : "Add channel"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {added?.secret ? (
        <Secret secret={added.secret} onClose={onClose} />
      ) : (
        <ChannelForm onAdded={setAdded} onClose={onClose} />
      )}
    </Modal>
  );
}

interface ChannelFormProps {
  onAdded: (channel: AddedChannel) => void;
  onClose: () => void;
}

function ChannelForm({ onAdded, onClose }: ChannelFormProps) {
  const rules = useQuery(alertRulesQuery);
  const add = useAddChannel();
  const [kind, setKind] = useState<Kind>("webhook");
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [kinds, setKinds] = useState<string[]>([]);
  const { byField, general } = add.error
    ? placeErrors(add.error, ["name", "url"])
    : { byField: {} as Record<string, string>, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    const chosen = kinds.length > 0 ? (kinds as RuleKind[]) : null;
    add.mutate(
      { kind, name: name.trim(), url: url.trim(), kinds: chosen },
      { onSuccess: (channel) => (channel.secret ? onAdded(channel) : onClose()) },
    );
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TextInput
          data-autofocus
          label="Name"
          maxLength={100}
          value={name}
          error={byField.name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label="Kind"
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value as Kind)}
          data={[
            { value: "webhook", label: "Webhook" },
            { value: "apprise", label: "Apprise: Slack, e-mail and others" },
          ]}
        />
        <TextInput
          {...ADDRESSES[kind]}
          styles={{ input: { "--input-placeholder-color": "var(--arcadia-dim)" } }}
          type="url"
          maxLength={2000}
          value={url}
          error={byField.url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <MultiSelect
          label="Alerts"
          description="Choose none for all."
          data={(rules.data ?? []).map(({ kind: value, title: label }) => ({ value, label }))}
          value={kinds}
          onChange={setKinds}
          clearable
          clearButtonProps={{ "aria-label": "Clear" }}
        />
        <FormErrors messages={general} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={!name.trim() || !url.trim()} loading={add.isPending}>
            Add channel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Stack gap="md">
      <Text size="sm">
        Every request has the header Arcadia-Signature. The receiver checks it with this secret, which is not
        shown again.
      </Text>
      <Group align="end" gap="xs">
        <TextInput
          label="Secret"
          value={secret}
          readOnly
          className={classes.secret ?? ""}
          style={{ flex: 1 }}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyText label="Copy" text={secret} />
      </Group>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

const EXPLAINED: Record<NotificationState, string> = {
  on: "New alerts appear as notifications of this browser while a page of Arcadia is open, also in the background.",
  off: "New alerts can appear as notifications of this browser while a page of Arcadia is open.",
  denied:
    "This browser blocks notifications of this page. Allow them in the browser's settings for this site, then reload.",
  unsupported:
    "This browser cannot show notifications of this page. They need https or localhost, and do not work on phones.",
};

/** Card that turns notifications of this browser on or off. */
function BrowserChannel() {
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

const STATES = { waiting: "Waiting", delivered: "Delivered", failed: "Failed" };

/** The deliveries to all channels, newest first. */
function DeliveryHistory() {
  const deliveries = useInfiniteQuery(deliveriesQuery);
  const items = deliveries.data?.pages.flatMap((page) => page.items);
  return (
    <section className={classes.card} aria-label="History">
      <Title order={2} mb="xs">
        History
      </Title>
      {deliveries.isError && !items && (
        <QueryError error={deliveries.error} retry={() => void deliveries.refetch()} />
      )}
      {items && <DeliveryTable deliveries={items} />}
      {deliveries.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          mt="xs"
          loading={deliveries.isFetchingNextPage}
          onClick={() => void deliveries.fetchNextPage()}
        >
          Show older deliveries
        </Button>
      )}
    </section>
  );
}

function DeliveryTable({ deliveries }: { deliveries: readonly AlertDelivery[] }) {
  return (
    <DataTable
      label="Deliveries"
      verticalSpacing="xs"
      rows={deliveries}
      rowKey={({ id }) => id}
      empty={<Text size="sm">Nothing was sent yet.</Text>}
      columns={[
        { title: "Alert", cell: ({ title }) => title, cellProps: () => ({ miw: 160 }) },
        { title: "Channel", cell: ({ channel }) => channel },
        {
          title: "State",
          cell: (delivery) => <DeliveryState delivery={delivery} />,
          cellProps: () => ({ miw: 200 }),
        },
        { title: "Created", cell: (delivery) => <TimeAgo time={delivery.created_at} /> },
        {
          title: "Actions",
          isTitleHidden: true,
          cell: (delivery) => <SendAgainButton delivery={delivery} />,
        },
      ]}
    />
  );
}

function DeliveryState({ delivery }: { delivery: AlertDelivery }) {
  return (
    <>
      <span className={classes.state} data-state={delivery.state}>
        {STATES[delivery.state]}
      </span>
      {delivery.tries > 0 && (
        <span className={classes.dim}> after {plural(delivery.tries, "try", "tries")}</span>
      )}
      {delivery.error && <p className={classes.problem}>{delivery.error}</p>}
      {delivery.error && delivery.response && <p className={classes.dim}>{delivery.response}</p>}
    </>
  );
}

function SendAgainButton({ delivery }: { delivery: AlertDelivery }) {
  const again = useSendAgain();
  return (
    <Button
      size="xs"
      variant="default"
      aria-label={`Send again: ${delivery.title} to ${delivery.channel}`}
      loading={again.isPending}
      onClick={() => again.mutate(delivery.id)}
    >
      Send again
    </Button>
  );
}
