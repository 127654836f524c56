import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { isSubmitted } from "@/api/mutationState";
import { useForkRun } from "@/api/runs";
import { environmentsQuery } from "@/api/configuration";
import type { Checkpoint, Environment, Run } from "@/api/types";
import { ConfigFields } from "@/config-form/ConfigFields";
import { overridesOf } from "@/config-form/draft";
import { RestoredDraftNote } from "@/config-form/RestoredDraftNote";
import type { Variant } from "@/config-form/schema";
import { focusFirst, showErrors, showServerErrors, useConfigDraft } from "@/config-form/useConfigDraft";
import { useVariants } from "@/config-form/useVariants";
import { exact, plural, short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { useStoredDraft } from "@/ui/useStoredDraft";
import { FormErrors } from "@/ui/FormErrors";

const NO_STEPS_LEFT = "This checkpoint already has all steps of its run. ";

interface ForkModalProps {
  run: Run;
  checkpoint: Checkpoint;
  onClose: () => void;
}

/** Dialog that launches a new run from a checkpoint, optionally with other hyperparameters. */
export function ForkModal({ run, checkpoint, onClose }: ForkModalProps) {
  const { schema, variants } = useVariants();
  const environments = useQuery(environmentsQuery);
  const needed = [schema, environments];
  const failed = needed.find((query) => query.isError && query.data === undefined);
  const isReady = needed.every((query) => query.data !== undefined);
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={`Fork from ${short(checkpoint.step, "steps")}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {failed && <QueryError error={failed.error} retry={() => void failed.refetch()} />}
      {!failed && !isReady && <Text c="dimmed">Loading form…</Text>}
      {isReady && (
        <ForkForm
          run={run}
          checkpoint={checkpoint}
          variants={variants}
          environments={environments.data ?? []}
        />
      )}
    </Modal>
  );
}

interface ForkFormProps {
  run: Run;
  checkpoint: Checkpoint;
  variants: Variant[];
  environments: Environment[];
}

function ForkForm({ run, checkpoint, variants, environments }: ForkFormProps) {
  const config = useConfigDraft(
    variants,
    {
      key: String(checkpoint.id),
      values: run.config,
      reference: { title: run.name, values: run.config, preset: null },
    },
    "fork",
  );
  const savedName = useStoredDraft(`arcadia-fork-name-${checkpoint.id}`, {
    name: `${run.name}, from ${short(checkpoint.step, "steps")}`,
  });
  const { name } = savedName.value;
  const [problems, setProblems] = useState<string[]>([]);
  const fork = useForkRun();
  const navigate = useNavigate();
  const overrides = overridesOf(config.values, run.config);
  const changes = Object.keys(overrides).length;
  const remainingSteps = Number(config.values["total_steps"]) - checkpoint.step;

  function discardDraft() {
    config.startOver();
    savedName.startOver();
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    setProblems([]);
    config.showAllErrors();
    if (Object.keys(config.allErrors).length > 0) {
      focusFirst(config.fields, config.allErrors);
      return;
    }
    if (remainingSteps <= 0) {
      showErrors(config, { total_steps: `Must be more than ${exact(checkpoint.step)}.` });
      return;
    }
    try {
      const copy = await fork.mutateAsync({
        id: run.id,
        checkpoint_id: checkpoint.id,
        overrides,
        ...(name.trim() && { name: name.trim() }),
      });
      config.forget();
      savedName.forget();
      await navigate(`/runs/${copy.id}`);
    } catch (error) {
      setProblems(showServerErrors(config, error));
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="md">
        <Text size="sm">
          The new run starts with the weights of run {run.id} at {exact(checkpoint.step, "steps")}
          {remainingSteps > 0 && ` and trains ${short(remainingSteps, "steps")} more`}. The method,
          environment and network stay the same.
          {checkpoint.weights_only &&
            " This checkpoint has only the weights of the network, so the optimizer starts anew."}
        </Text>
        {(config.restored || savedName.restored) && <RestoredDraftNote onStartOver={discardDraft} />}
        {remainingSteps <= 0 && (
          <Text size="sm" role="status" fw={500}>
            {checkpoint.step >= (run.total_steps ?? 0) && NO_STEPS_LEFT}
            Raise the total steps above {exact(checkpoint.step)}.
          </Text>
        )}
        <TextInput
          label="Name"
          value={name}
          maxLength={200}
          data-autofocus
          onChange={(event) => savedName.change({ name: event.currentTarget.value })}
        />
        <ConfigFields
          config={config}
          environments={environments}
          without={config.variant?.shapeFields ?? []}
        />
        <FormErrors messages={problems} />
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            {changes === 0 ? "No settings changed" : plural(changes, "setting") + " changed"}
          </Text>
          <Button type="submit" loading={isSubmitted(fork)}>
            Launch fork
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
