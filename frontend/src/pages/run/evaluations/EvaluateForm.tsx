import { Button, Group, NativeSelect, Radio, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { useRequestEvaluation } from "@/api/evaluations";
import type { Acting, Checkpoint, EvaluationChoices, Run, StartSet } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { evaluationName } from "@/ui/evaluationName";
import { plural } from "@/ui/format";
import { NoPlayer } from "@/ui/NoPlayer";
import { notifyDone } from "@/ui/notify";
import { FormErrors } from "@/ui/FormErrors";
import { TextWithCode } from "@/ui/TextWithCode";
import classes from "./evaluations.module.css";
import {
  checkpointChoices,
  type Draft,
  FIELDS,
  firstDraft,
  type Problems,
  problemsOf,
  requestOf,
} from "./request";
import { actingText, sentence } from "./words";

interface EvaluateFormProps {
  run: Run;
  choices: EvaluationChoices;
  checkpoints: readonly Checkpoint[];
  chosen: Checkpoint | undefined;
  onClose: () => void;
}

const ACTING_NAMES: Record<Acting["name"], string> = {
  sampled: "Sampled",
  greedy: "Greedy",
  "epsilon-greedy": "ε-greedy",
  random: "Random",
};

export function EvaluateForm({ run, choices, checkpoints, chosen, onClose }: EvaluateFormProps) {
  const [draft, setDraft] = useState(() => firstDraft(choices, chosen));
  const [problems, setProblems] = useState<Problems>({});
  const [refusals, setRefusals] = useState<string[]>([]);
  const ask = useRequestEvaluation(run.id);
  const navigate = useNavigate();
  const put = (change: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...change }));
    setProblems({});
    setRefusals([]);
  };
  const protocol = choices.protocols.find(({ name }) => name === draft.protocol);

  async function submit(event: FormEvent) {
    event.preventDefault();
    const found = problemsOf(draft);
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    try {
      const asked = await ask.mutateAsync(requestOf(draft));
      notifyDone(`Requested an evaluation by ${evaluationName(asked)}.`);
      onClose();
      await navigate(`/runs/${run.id}/evaluations`);
    } catch (error) {
      const { byField, general } = placeErrors(error, FIELDS);
      setProblems(byField);
      setRefusals(general);
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="md">
        <NoPlayer />
        <NativeSelect
          label="Checkpoint"
          data={checkpointChoices(checkpoints)}
          value={draft.checkpoint}
          error={problems.checkpoint}
          data-autofocus
          onChange={(event) => put({ checkpoint: event.currentTarget.value })}
        />
        <ProtocolChoice
          choices={choices}
          value={draft.protocol}
          error={problems.protocol}
          onChange={(name) => put({ protocol: name, startSet: firstSet(choices, name) })}
        />
        {protocol?.start_sets && protocol.start_sets.length > 0 && (
          <StartSetChoice
            sets={protocol.start_sets}
            value={draft.startSet}
            error={problems.start_set}
            onChange={(id) => put({ startSet: id })}
          />
        )}
        <div className={classes.pair}>
          <TextInput
            label="Episodes"
            description="Fewer are played sooner, and say less."
            inputMode="numeric"
            placeholder={usualEpisodes(protocol, draft.startSet)}
            value={draft.episodes}
            error={problems.episodes}
            onChange={(event) => put({ episodes: event.currentTarget.value })}
          />
          <TextInput
            label="Seed"
            description="The same seed gives the same scores."
            inputMode="numeric"
            value={draft.seed}
            error={problems.seed}
            onChange={(event) => put({ seed: event.currentTarget.value })}
          />
        </div>
        <ActingChoice choices={choices} draft={draft} problems={problems} onChange={put} />
        <FormErrors messages={refusals} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={ask.isPending}>
            Evaluate
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** What may be chosen stands before what may not. */
function fitFirst<T extends { unfit_because: string | null }>(offered: readonly T[]): T[] {
  return offered.toSorted((a, b) => Number(a.unfit_because !== null) - Number(b.unfit_because !== null));
}

interface ProtocolChoiceProps {
  choices: EvaluationChoices;
  value: string;
  error: string | undefined;
  onChange: (name: string) => void;
}

/** All protocols; those that do not fit say why. */
function ProtocolChoice({ choices, value, error, onChange }: ProtocolChoiceProps) {
  return (
    <Radio.Group label="Protocol" value={value} onChange={onChange} error={error}>
      <Stack gap={8} mt={8}>
        {fitFirst(choices.protocols).map(({ name, title, sentence: does, unfit_because }) => (
          <Radio
            key={name}
            value={name}
            disabled={unfit_because !== null}
            label={
              <>
                {title} <span className={classes.name}>{name}</span>
              </>
            }
            description={<TextWithCode>{unfit_because === null ? does : `${unfit_because}.`}</TextWithCode>}
            classNames={{ description: classes.description }}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

type Protocol = EvaluationChoices["protocols"][number];

/** The newest set of start points of a protocol; nothing where it has none. */
function firstSet(choices: EvaluationChoices, name: string): string {
  const [first] = choices.protocols.find((protocol) => protocol.name === name)?.start_sets ?? [];
  return first ? String(first.id) : "";
}

function usualEpisodes(protocol: Protocol | undefined, startSet: string): string {
  const set = protocol?.start_sets?.find(({ id }) => String(id) === startSet);
  return set ? `${set.points}, one from each point` : `${protocol?.episodes ?? ""}, as the protocol has it`;
}

interface StartSetChoiceProps {
  sets: readonly StartSet[];
  value: string;
  error: string | undefined;
  onChange: (id: string) => void;
}

/** The points at which the episodes begin. */
function StartSetChoice({ sets, value, error, onChange }: StartSetChoiceProps) {
  const chosen = sets.find(({ id }) => String(id) === value);
  return (
    <NativeSelect
      label="Start points"
      description={chosen && `${chosen.source}.`}
      data={sets.map(({ id, name, points }) => ({
        value: String(id),
        label: `${name}, ${plural(points, "point")}`,
      }))}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface ActingChoiceProps {
  choices: EvaluationChoices;
  draft: Draft;
  problems: Problems;
  onChange: (change: Partial<Draft>) => void;
}

/** How the agent acts, as its method's paper has it unless told otherwise. */
function ActingChoice({ choices, draft, problems, onChange }: ActingChoiceProps) {
  const usual = choices.usual_acting.name;
  const choose = (name: string) =>
    onChange({ acting: choices.acting.find(({ acting }) => acting.name === name)?.acting.name ?? usual });
  return (
    <Radio.Group label="How the agent acts" value={draft.acting} onChange={choose} error={problems.acting}>
      <Stack gap={8} mt={8}>
        {fitFirst(choices.acting).map(({ acting, unfit_because }) => (
          <Radio
            key={acting.name}
            value={acting.name}
            disabled={unfit_because !== null}
            label={`${ACTING_NAMES[acting.name]}${acting.name === usual ? ", as in the method's paper" : ""}`}
            description={
              <TextWithCode>
                {unfit_because === null ? sentence(actingText(acting)) : `${unfit_because}.`}
              </TextWithCode>
            }
            classNames={{ description: classes.description }}
          />
        ))}
      </Stack>
      {draft.acting === "epsilon-greedy" && (
        <TextInput
          label="ε, the share of random actions"
          inputMode="decimal"
          mt={8}
          maw={232}
          value={draft.epsilon}
          error={problems.epsilon}
          onChange={(event) => onChange({ epsilon: event.currentTarget.value })}
        />
      )}
    </Radio.Group>
  );
}
