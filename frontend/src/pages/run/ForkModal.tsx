import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { useForkRun } from "@/api/mutations";
import { ApiError } from "@/api/problem";
import { environmentsQuery } from "@/api/queries";
import type { Checkpoint, Environment, Run } from "@/api/types";
import { ConfigFields } from "@/pages/launch/ConfigFields";
import { overridesOf, placeErrors } from "@/pages/launch/draft";
import type { Variant } from "@/pages/launch/schema";
import { focusFirst, useConfigDraft } from "@/pages/launch/useConfigDraft";
import { useVariants } from "@/pages/launch/useVariants";
import { exact, plural, short } from "@/ui/format";
import { QueryProblem } from "@/ui/QueryProblem";

interface ForkModalProps {
  run: Run;
  checkpoint: Checkpoint;
  onClose: () => void;
}

/** Goes on from a checkpoint as a run of its own, with changed hyper-parameters. */
export function ForkModal({ run, checkpoint, onClose }: ForkModalProps) {
  const { schema, variants } = useVariants();
  const environments = useQuery(environmentsQuery);
  const needed = [schema, environments];
  const failed = needed.find((query) => query.isError && query.data === undefined);
  const ready = needed.every((query) => query.data !== undefined);
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={`Fork from ${short(checkpoint.step, "steps")}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {failed && <QueryProblem error={failed.error} retry={() => void failed.refetch()} />}
      {!failed && !ready && <Text c="dimmed">Loading the form…</Text>}
      {ready && (
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
  const config = useConfigDraft(variants, {
    key: `fork ${checkpoint.id}`,
    values: run.config,
    reference: { title: run.name, values: run.config, preset: null },
  });
  const [name, setName] = useState(`${run.name}, from ${short(checkpoint.step, "steps")}`);
  const [problems, setProblems] = useState<string[]>([]);
  const fork = useForkRun(run.id);
  const navigate = useNavigate();
  const overrides = overridesOf(config.values, run.config);
  const changes = Object.keys(overrides).length;

  async function submit(event: FormEvent) {
    event.preventDefault();
    setProblems([]);
    config.showAllErrors();
    if (Object.keys(config.allErrors).length > 0) {
      focusFirst(config.fields, config.allErrors);
      return;
    }
    try {
      const copy = await fork.mutateAsync({
        checkpoint_id: checkpoint.id,
        overrides,
        ...(name.trim() && { name: name.trim() }),
      });
      await navigate(`/runs/${copy.id}`);
    } catch (error) {
      const listed = error instanceof ApiError ? error.fieldErrors : [];
      const placed = placeErrors(
        listed,
        config.fields.map((field) => field.name),
      );
      config.takeServerErrors(placed.byField);
      setProblems(
        listed.length > 0 ? placed.elsewhere : [error instanceof Error ? error.message : String(error)],
      );
      focusFirst(config.fields, placed.byField);
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="md">
        <Text size="sm">
          A new run begins with the weights of run {run.id} at {exact(checkpoint.step, "steps")} and learns on
          to its own total. Method, game and network stay.
        </Text>
        <TextInput
          label="Name"
          value={name}
          maxLength={200}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <ConfigFields
          config={config}
          environments={environments}
          without={config.variant?.shapeFields ?? []}
        />
        {problems.map((problem) => (
          <Text key={problem} size="sm" c="red" role="alert">
            {problem}
          </Text>
        ))}
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            {changes === 0
              ? "Nothing changed yet: it goes on as before."
              : plural(changes, "setting") + " changed."}
          </Text>
          <Button type="submit" loading={fork.isPending}>
            Launch fork
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
