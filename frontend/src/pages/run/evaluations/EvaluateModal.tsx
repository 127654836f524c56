import { NativeSelect, Radio, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { checkpointsQuery } from "@/api/checkpoints";
import { evaluationChoicesQuery, useRequestEvaluation } from "@/api/evaluations";
import type { Acting, Checkpoint, EvaluationChoices, Run, StartSet } from "@/api/types";
import { useRequestForm } from "@/config-form/useRequestForm";
import { evaluationName } from "@/ui/evaluationName";
import { plural, short, toSentence } from "@/ui/format";
import { NoPlayer } from "@/ui/NoPlayer";
import { notifyDone } from "@/ui/notify";
import { TextWithCode } from "@/ui/TextWithCode";
import { JobForm, JobModal } from "../JobModal";
import {
  checkpointChoices,
  createDraft,
  type Draft,
  FIELDS,
  findProblems,
  type Problems,
  toRequest,
} from "./request";
import { describeActing } from "./words";
import jobClasses from "../jobs.module.css";
import classes from "./evaluations.module.css";

interface EvaluateModalProps {
  run: Run;
  /** The initial choice. By default, the newest. */
  checkpoint?: Checkpoint;
  onClose: () => void;
}

/** Dialog that requests an evaluation of a checkpoint. */
export function EvaluateModal({ run, checkpoint, onClose }: EvaluateModalProps) {
  const choices = useQuery(evaluationChoicesQuery(run.id));
  const checkpoints = useQuery(checkpointsQuery(run.id));
  return (
    <JobModal
      title={
        checkpoint ? `Evaluate the checkpoint at ${short(checkpoint.step, "steps")}` : "Evaluate checkpoint"
      }
      size="lg"
      queries={[choices, checkpoints]}
      onClose={onClose}
    >
      {choices.data && checkpoints.data && (
        <EvaluateForm
          run={run}
          choices={choices.data}
          checkpoints={checkpoints.data}
          chosen={checkpoint}
          onClose={onClose}
        />
      )}
    </JobModal>
  );
}

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

function EvaluateForm({ run, choices, checkpoints, chosen, onClose }: EvaluateFormProps) {
  const request = useRequestEvaluation(run.id);
  const navigate = useNavigate();
  const { draft, problems, refusals, update, submit } = useRequestForm({
    createDraft: () => createDraft(choices, chosen),
    fields: FIELDS,
    findProblems,
    async send(valid) {
      const evaluation = await request.mutateAsync(toRequest(valid));
      notifyDone(`Evaluation by ${evaluationName(evaluation)} requested.`);
      onClose();
      await navigate(`/runs/${run.id}/evaluations`);
    },
  });
  const protocol = choices.protocols.find(({ name }) => name === draft.protocol);

  return (
    <JobForm
      action="Evaluate"
      isSending={request.isPending}
      refusals={refusals}
      onSubmit={submit}
      onClose={onClose}
    >
      <NoPlayer executor={run.executor} />
      <NativeSelect
        label="Checkpoint"
        data={checkpointChoices(checkpoints)}
        value={draft.checkpoint}
        error={problems.checkpoint}
        data-autofocus
        onChange={(event) => update({ checkpoint: event.currentTarget.value })}
      />
      <ProtocolChoice
        choices={choices}
        value={draft.protocol}
        error={problems.protocol}
        onChange={(name) => update({ protocol: name, startSet: newestStartSet(choices, name) })}
      />
      {protocol?.start_sets && protocol.start_sets.length > 0 && (
        <StartSetChoice
          sets={protocol.start_sets}
          value={draft.startSet}
          error={problems.start_set}
          onChange={(id) => update({ startSet: id })}
        />
      )}
      <div className={jobClasses.pair}>
        <TextInput
          label="Episodes"
          description="Fewer episodes are faster but less precise."
          inputMode="numeric"
          placeholder={defaultEpisodes(protocol, draft.startSet)}
          value={draft.episodes}
          error={problems.episodes}
          onChange={(event) => update({ episodes: event.currentTarget.value })}
        />
        <TextInput
          label="Seed"
          description="The same seed gives the same scores."
          inputMode="numeric"
          value={draft.seed}
          error={problems.seed}
          onChange={(event) => update({ seed: event.currentTarget.value })}
        />
      </div>
      <ActingChoice choices={choices} draft={draft} problems={problems} onChange={update} />
    </JobForm>
  );
}

/** Sort available options before unavailable ones. */
function sortAvailableFirst<T extends { unfit_because: string | null }>(offered: readonly T[]): T[] {
  return offered.toSorted((a, b) => Number(a.unfit_because !== null) - Number(b.unfit_because !== null));
}

interface ProtocolChoiceProps {
  choices: EvaluationChoices;
  value: string;
  error: string | undefined;
  onChange: (name: string) => void;
}

/** All protocols. Unavailable ones say why. */
function ProtocolChoice({ choices, value, error, onChange }: ProtocolChoiceProps) {
  return (
    <Radio.Group label="Protocol" value={value} onChange={onChange} error={error}>
      <Stack gap={8} mt={8}>
        {sortAvailableFirst(choices.protocols).map(
          ({ name, title, sentence: description, unfit_because }) => (
            <Radio
              key={name}
              value={name}
              disabled={unfit_because !== null}
              label={
                <>
                  {title} <span className={classes.name}>{name}</span>
                </>
              }
              description={
                <TextWithCode>{unfit_because === null ? description : `${unfit_because}.`}</TextWithCode>
              }
              classNames={{ description: classes.description }}
            />
          ),
        )}
      </Stack>
    </Radio.Group>
  );
}

type Protocol = EvaluationChoices["protocols"][number];

/** Return the id of a protocol's newest start set, or an empty string. */
function newestStartSet(choices: EvaluationChoices, name: string): string {
  const [first] = choices.protocols.find((protocol) => protocol.name === name)?.start_sets ?? [];
  return first ? String(first.id) : "";
}

function defaultEpisodes(protocol: Protocol | undefined, startSet: string): string {
  const set = protocol?.start_sets?.find(({ id }) => String(id) === startSet);
  return set ? `${set.points}, one from each point` : `${protocol?.episodes ?? ""}, protocol default`;
}

interface StartSetChoiceProps {
  sets: readonly StartSet[];
  value: string;
  error: string | undefined;
  onChange: (id: string) => void;
}

/** Choice of the start set. */
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

/** Choice of how the agent acts. The default is the one in the method's paper. */
function ActingChoice({ choices, draft, problems, onChange }: ActingChoiceProps) {
  const defaultName = choices.usual_acting.name;
  const choose = (name: string) =>
    onChange({
      acting: choices.acting.find(({ acting }) => acting.name === name)?.acting.name ?? defaultName,
    });
  return (
    <Radio.Group label="Acting" value={draft.acting} onChange={choose} error={problems.acting}>
      <Stack gap={8} mt={8}>
        {sortAvailableFirst(choices.acting).map(({ acting, unfit_because }) => (
          <Radio
            key={acting.name}
            value={acting.name}
            disabled={unfit_because !== null}
            label={`${ACTING_NAMES[acting.name]}${acting.name === defaultName ? " (the paper's choice)" : ""}`}
            description={
              <TextWithCode>
                {unfit_because === null ? toSentence(describeActing(acting)) : `${unfit_because}.`}
              </TextWithCode>
            }
            classNames={{ description: classes.description }}
          />
        ))}
      </Stack>
      {draft.acting === "epsilon-greedy" && (
        <TextInput
          label="ε (probability of a random action)"
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
