import {
  Button,
  Checkbox,
  CloseButton,
  Input,
  NativeSelect,
  SegmentedControl,
  Select,
  Stack,
  TextInput,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { checkpointsQuery } from "@/api/checkpoints";
import { comparisonQuery } from "@/api/comparisons";
import { useRequestFutures } from "@/api/futures";
import type { Checkpoint } from "@/api/types";
import { RunsField } from "@/charts/fields/RunsField";
import { isWholeBetween } from "@/config-form/numbers";
import { useRequestForm } from "@/config-form/useRequestForm";
import { BlockableButton } from "@/ui/BlockableButton";
import { exact } from "@/ui/format";
import { FormErrors } from "@/ui/FormErrors";
import type { PlayableReplay } from "../places";
import {
  countForced,
  createDraft,
  type Draft,
  FIELDS,
  findProblems,
  formatRepeated,
  hasVideos,
  MAX_FORCED,
  MAX_FUTURES,
  mergeRepeated,
  MIN_FUTURES,
  type Problems,
  type Repeated,
  toRequest,
  type Until,
} from "./draft";
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

interface ForcedActionsProps {
  /** Names of the environment's actions. Empty if they are numbers, which cannot be forced. */
  names: readonly string[];
  draft: Draft;
  error: string | undefined;
  onChange: (change: Partial<Draft>) => void;
}

const FORCING: { value: Draft["forcing"]; label: string }[] = [
  { value: "none", label: "Agent's own" },
  { value: "each", label: "Each in turn" },
  { value: "sequence", label: "Sequence" },
];
const DESCRIPTIONS: Record<Draft["forcing"], string> = {
  none: "The agent acts freely from here.",
  each: "Compare each action first, with the same random numbers.",
  sequence: "Every future begins with these actions.",
};

/** Choice of the first actions: free, each in turn, or a sequence. */
function ForcedActions({ names, draft, error, onChange }: ForcedActionsProps) {
  const { forcing, sequence } = draft;
  if (names.length === 0)
    return (
      <Input.Wrapper
        label="First actions"
        labelElement="div"
        description="Actions of this environment are numbers and cannot be forced."
      />
    );
  return (
    <Input.Wrapper
      label="First actions"
      labelElement="div"
      description={DESCRIPTIONS[forcing]}
      inputWrapperOrder={["label", "input", "description", "error"]}
      error={error}
    >
      <Stack gap={8} mb={4}>
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label="First actions"
          data={FORCING}
          value={forcing}
          onChange={(value) => onChange({ forcing: value })}
        />
        {forcing === "sequence" && (
          <Sequence
            names={names}
            sequence={sequence}
            onChange={(next) => onChange({ sequence: mergeRepeated(next) })}
          />
        )}
      </Stack>
    </Input.Wrapper>
  );
}

interface SequenceProps {
  names: readonly string[];
  sequence: readonly Repeated[];
  onChange: (sequence: readonly Repeated[]) => void;
}

/** Builder of a sequence such as LEFT × 10, FIRE. */
function Sequence({ names, sequence, onChange }: SequenceProps) {
  const [action, setAction] = useState(names[0] ?? "");
  const [times, setTimes] = useState("1");
  const room = MAX_FORCED - countForced(sequence);
  const valid = isWholeBetween(times, 1, room);
  const problem = room > 0 ? `Enter 1 to ${room}.` : `At most ${MAX_FORCED} actions.`;
  return (
    <>
      {sequence.length > 0 && (
        <ol className={classes.chips} aria-label="Sequence">
          {sequence.map((repeated, at) => (
            <li key={at} className={classes.chip}>
              {formatRepeated(repeated)}
              <CloseButton
                size={24}
                iconSize={12}
                aria-label={`Remove ${formatRepeated(repeated)}`}
                onClick={() => onChange(sequence.filter((_, other) => other !== at))}
              />
            </li>
          ))}
        </ol>
      )}
      <div className={classes.add}>
        <Select
          label="Action"
          size="xs"
          data={names}
          value={action}
          allowDeselect={false}
          onChange={(name) => setAction(name ?? action)}
        />
        <TextInput
          label="Times"
          size="xs"
          inputMode="numeric"
          value={times}
          error={!valid}
          onChange={(event) => setTimes(event.currentTarget.value)}
        />
        <Button
          size="xs"
          variant="default"
          disabled={!valid}
          onClick={() => onChange([...sequence, { action, times: Number(times) }])}
        >
          Add
        </Button>
      </div>
      {!valid && <Input.Error>{problem}</Input.Error>}
    </>
  );
}
