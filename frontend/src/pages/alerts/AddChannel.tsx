import { Button, Group, Modal, MultiSelect, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { alertRulesQuery, useAddChannel } from "@/api/alerts";
import type { AddedChannel, AlertChannel, RuleKind } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { CopyText } from "@/ui/CopyText";
import { FormErrors } from "@/ui/FormErrors";
import classes from "./alerts.module.css";

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
export function AddChannel({ onClose }: { onClose: () => void }) {
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
