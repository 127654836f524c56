import { Anchor, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useMemo, useState } from "react";
import { Link } from "react-router";
import { changesQuery, useChangeRun } from "@/api/changes";
import { isSubmitted } from "@/api/mutationState";
import { runQuery } from "@/api/runs";
import type { Run, RunConfig } from "@/api/types";
import { ConfigFields } from "@/config-form/ConfigFields";
import { overridesOf } from "@/config-form/draft";
import { formatNumber } from "@/config-form/numbers";
import type { Variant } from "@/config-form/schema";
import { focusFirst, showErrors, showServerErrors, useConfigDraft } from "@/config-form/useConfigDraft";
import { useVariants } from "@/config-form/useVariants";
import { exact, plural, short } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { QueryError } from "@/ui/QueryError";
import { FormErrors } from "@/ui/FormErrors";
import { decayNotes, hasEnded, LONGER } from "./longer";

interface ChangeSettingsModalProps {
  run: Pick<Run, "id" | "name">;
  onClose: () => void;
}

/** Dialog that changes settings of a run while it trains, or trains it longer after it has ended. */
export function ChangeSettingsModal({ run, onClose }: ChangeSettingsModalProps) {
  const { schema, variants } = useVariants();
  const detail = useQuery(runQuery(run.id));
  const changes = useQuery(changesQuery(run.id));
  const needed = [schema, detail, changes];
  const failed = needed.find((query) => query.isError && query.data === undefined);
  const waiting = changes.data?.items.filter((change) => change.applied_step === null) ?? [];
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={`Change settings of ${run.name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {failed && <QueryError error={failed.error} retry={() => void failed.refetch()} />}
      {!failed && !(schema.data && detail.data && changes.data) && <Text c="dimmed">Loading form…</Text>}
      {schema.data !== undefined && detail.data && changes.data && (
        <ChangeForm
          run={detail.data}
          current={Object.assign({}, detail.data.config, ...waiting.map(({ fields }) => fields))}
          variants={variants}
          onClose={onClose}
        />
      )}
    </Modal>
  );
}

interface ChangeFormProps {
  run: Run;
  /** The settings after the changes that wait. */
  current: RunConfig;
  variants: Variant[];
  onClose: () => void;
}

function ChangeForm({ run, current: latest, variants, onClose }: ChangeFormProps) {
  // Keep what the user saw when the dialog opened.
  const [current] = useState(latest);
  const changeable = useMemo(
    () => variants.map((each) => ({ ...each, fields: each.fields.filter((field) => field.changeable) })),
    [variants],
  );
  const config = useConfigDraft(changeable, {
    key: String(run.id),
    values: current,
    reference: { title: run.name, values: current, preset: null },
  });
  const change = useChangeRun(run.id);
  const [problems, setProblems] = useState<string[]>([]);
  const ended = hasEnded(run);
  const fields = overridesOf(config.values, current);
  const count = Object.keys(fields).length;
  const total = Number(current["total_steps"]);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setProblems([]);
    config.showAllErrors();
    if (Object.keys(config.allErrors).length > 0) {
      focusFirst(config.fields, config.allErrors);
      return;
    }
    const least = ended ? Math.max(total, run.step) : run.step;
    if ((ended || "total_steps" in fields) && Number(config.values["total_steps"]) <= least) {
      showErrors(config, { total_steps: `Must be more than ${exact(least)}.` });
      return;
    }
    try {
      await change.mutateAsync(fields);
      notifyDone(ended ? `${run.name} is queued to train longer.` : `Settings of ${run.name} changed.`);
      onClose();
    } catch (error) {
      setProblems(showServerErrors(config, error));
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="md">
        <Text size="sm">{INTRODUCTIONS[ended ? "ended" : run.state === "running" ? "live" : "waiting"]}</Text>
        <Group gap="xs" role="group" aria-label="Train longer">
          <Text size="sm" c="dimmed">
            Train longer
          </Text>
          {LONGER.map(({ label, factor }) => (
            <Button
              key={label}
              size="compact-sm"
              variant="default"
              onClick={() => config.set("total_steps", formatNumber(Math.round(total * factor)))}
            >
              {label}
            </Button>
          ))}
          <Text size="sm" c="dimmed">
            {short(run.step)} of {short(total, "steps")} done
          </Text>
        </Group>
        <ConfigFields config={config} environments={[]} />
        {decayNotes({ ...current, ...config.values }, current, run.step).map((note) => (
          <Text key={note} size="sm" c="dimmed" role="status">
            {note}
          </Text>
        ))}
        <FormErrors messages={problems} />
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            Other settings need a new run:{" "}
            <Anchor component={Link} to={`/runs/${run.id}/checkpoints`} underline="always" onClick={onClose}>
              Fork instead
            </Anchor>
          </Text>
          <Button type="submit" disabled={count === 0} loading={isSubmitted(change)}>
            {ended ? "Train longer" : count === 0 ? "Change settings" : `Change ${plural(count, "setting")}`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const INTRODUCTIONS = {
  live: "The run uses new values from its next update.",
  waiting: "The run uses new values when it continues.",
  ended: "This run has ended. With more steps it is queued again and continues from its last checkpoint.",
};
