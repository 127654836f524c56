import { Checkbox, Input, NativeSelect, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { comparisonQuery } from "@/api/comparisons";
import { checkpointsQuery } from "@/api/checkpoints";
import { useRequestFutures } from "@/api/futures";
import type { Checkpoint } from "@/api/types";
import { RunsField } from "@/charts/fields/RunsField";
import { useRequestForm } from "@/config-form/useRequestForm";
import { BlockableButton } from "@/ui/BlockableButton";
import { FormErrors } from "@/ui/FormErrors";
import { exact } from "@/ui/format";
import type { PlayableReplay } from "../places";
import {
  createDraft,
  type Draft,
  FIELDS,
  findProblems,
  hasVideos,
  MAX_FUTURES,
  MIN_FUTURES,
  type Problems,
  toRequest,
  type Until,
} from "./draft";
import { ForcedActions } from "./ForcedActions";
import classes from "./futures.module.css";

interface FuturesFormProps {
  replay: PlayableReplay;
  env: string;
  /** Names of the actions. Empty if they are numbers. */
  names: readonly string[];
  /** Return the decision of the shown picture. */
  now: () => number;
  /** Called with the id of the requested futures. */
  onRequested: (id: number) => void;
}

const UNTIL: { value: Until; label: string }[] = [
  { value: "horizon", label: "Longest length" },
  { value: "reward", label: "The next reward" },
  { value: "life", label: "A lost life" },
  { value: "outcome", label: "The next reward or lost life" },
];

/** Form that simulates futures from the current decision. */
export function FuturesForm({ replay, env, names, now, onRequested }: FuturesFormProps) {
  const request = useRequestFutures(replay);
  const { draft, problems, refusals, update, submit } = useRequestForm({
    createDraft: () => createDraft(replay.run_id),
    fields: FIELDS,
    findProblems,
    async send(valid) {
      const { id } = await request.mutateAsync(toRequest(valid, now()));
      onRequested(id);
    },
  });

  return (
    <form className={classes.form} onSubmit={submit} noValidate>
      <Stack gap="sm">
        <div className={classes.pair}>
          <TextInput
            label="Futures"
            description={`${MIN_FUTURES} to ${MAX_FUTURES}`}
            inputMode="numeric"
            value={draft.futures}
            error={problems.futures}
            onChange={(event) => update({ futures: event.currentTarget.value })}
          />
          <TextInput
            label="Longest length"
            description="In decisions"
            inputMode="numeric"
            value={draft.horizon}
            error={problems.horizon}
            onChange={(event) => update({ horizon: event.currentTarget.value })}
          />
        </div>
        <div className={classes.pair}>
          <NativeSelect
            label="Until"
            data={UNTIL}
            value={draft.until}
            error={problems.until}
            onChange={(event) => update({ until: event.currentTarget.value as Until })}
          />
          <TextInput
            label="Temperature"
            title="Divides the policy's logits. Above 1, the agent explores more."
            inputMode="decimal"
            value={draft.temperature}
            error={problems.temperature}
            onChange={(event) => update({ temperature: event.currentTarget.value })}
          />
        </div>
        <ForcedActions names={names} draft={draft} error={problems.first} onChange={update} />
        <ActingAgent env={env} draft={draft} problems={problems} onChange={update} />
        <Checkbox
          label="Record videos"
          description="Best, median and worst future, and all blended"
          checked={hasVideos(draft)}
          onChange={(event) => update({ videos: event.currentTarget.checked })}
        />
        <FormErrors messages={refusals} />
        <BlockableButton
          type="submit"
          blocked={draft.agent === "same" ? replay.actions.simulate : null}
          loading={request.isPending}
        >
          Simulate
        </BlockableButton>
      </Stack>
    </form>
  );
}

/** Return the checkpoints to choose from: best, newest, aliases, and each kept one. */
function listChoices(checkpoints: readonly Checkpoint[]) {
  const kept = checkpoints.filter(({ available }) => available).sort((a, b) => b.step - a.step);
  return [
    { value: "best", label: "Best" },
    { value: "newest", label: "Newest" },
    ...kept.flatMap(({ aliases }) => aliases.map((alias) => ({ value: alias, label: `Alias ${alias}` }))),
    ...kept.map(({ id, step }) => ({ value: String(id), label: exact(step, "steps") })),
  ];
}

interface ActingAgentProps {
  env: string;
  draft: Draft;
  problems: Problems;
  onChange: (change: Partial<Draft>) => void;
}

/** Choice of the agent that acts in the futures. */
function ActingAgent({ env, draft, problems, onChange }: ActingAgentProps) {
  const runs = draft.run === null ? [] : [draft.run];
  const known = useQuery({
    ...comparisonQuery(runs, [], false),
    enabled: draft.agent === "other" && runs.length > 0,
  });
  const checkpoints = useQuery({
    ...checkpointsQuery(draft.run ?? 0),
    enabled: draft.agent === "other" && draft.run !== null,
  });
  return (
    <Input.Wrapper
      label="Agent"
      labelElement="div"
      description={
        draft.agent === "other"
          ? "Any checkpoint of a run or an imported agent with the same environment and actions."
          : undefined
      }
      inputWrapperOrder={["label", "input", "description", "error"]}
    >
      <Stack gap={8}>
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label="Agent"
          data={[
            { value: "same", label: "The replay's" },
            { value: "other", label: "Another" },
          ]}
          value={draft.agent}
          onChange={(agent) => onChange({ agent })}
        />
        {draft.agent === "other" && (
          <>
            <RunsField
              single
              max={1}
              env={env}
              runs={runs}
              known={known.data?.runs ?? []}
              error={problems.run_id}
              onChange={([run]) => onChange({ run: run ?? null, checkpoint: "best" })}
            />
            <NativeSelect
              label="Checkpoint"
              data={listChoices(checkpoints.data ?? [])}
              value={draft.checkpoint}
              error={problems.checkpoint}
              onChange={(event) => onChange({ checkpoint: event.currentTarget.value })}
            />
          </>
        )}
      </Stack>
    </Input.Wrapper>
  );
}
