import { Checkbox, NativeSelect, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { useRequestCalibration } from "@/api/calibrations";
import { checkpointsQuery } from "@/api/checkpoints";
import type { CalibrationRequest, Checkpoint, Run } from "@/api/types";
import { isWholeBetween } from "@/config-form/numbers";
import { useRequestForm } from "@/config-form/useRequestForm";
import { exact, short } from "@/ui/format";
import { NoPlayer } from "@/ui/NoPlayer";
import { notifyDone } from "@/ui/notify";
import { checkpointChoices, parseCheckpoint } from "../evaluations/request";
import { JobForm, JobModal } from "../JobModal";
import { calibrationName } from "./words";
import jobClasses from "../jobs.module.css";

interface CalibrateModalProps {
  run: Run;
  /** The initial choice. By default, the newest. */
  checkpoint?: Checkpoint;
  onClose: () => void;
}

/** Dialog that requests a calibration of a checkpoint's critic. */
export function CalibrateModal({ run, checkpoint, onClose }: CalibrateModalProps) {
  const checkpoints = useQuery(checkpointsQuery(run.id));
  return (
    <JobModal
      title={
        checkpoint ? `Calibrate the critic at ${short(checkpoint.step, "steps")}` : "Calibrate the critic"
      }
      size="lg"
      queries={[checkpoints]}
      onClose={onClose}
    >
      {checkpoints.data && (
        <CalibrateForm run={run} checkpoints={checkpoints.data} chosen={checkpoint} onClose={onClose} />
      )}
    </JobModal>
  );
}

interface CalibrateFormProps {
  run: Run;
  checkpoints: readonly Checkpoint[];
  chosen: Checkpoint | undefined;
  onClose: () => void;
}

function CalibrateForm({ run, checkpoints, chosen, onClose }: CalibrateFormProps) {
  const request = useRequestCalibration(run.id);
  const navigate = useNavigate();
  const { draft, problems, refusals, update, submit } = useRequestForm({
    createDraft: () => createDraft(chosen),
    fields: FIELDS,
    findProblems,
    async send(valid) {
      const calibration = await request.mutateAsync(toRequest(valid));
      notifyDone(`Calibration at ${calibrationName(calibration)} requested.`);
      onClose();
      await navigate(`/runs/${run.id}/critic/${calibration.id}`);
    },
  });
  const number = (
    name: Exclude<keyof Draft, "checkpoint" | "measure_regret">,
    label: string,
    description: string,
  ) => (
    <TextInput
      label={label}
      description={description}
      inputMode="numeric"
      placeholder={name === "every" ? "automatic" : undefined}
      value={draft[name]}
      error={problems[name]}
      onChange={(event) => update({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <JobForm
      action="Calibrate"
      isSending={request.isPending}
      refusals={refusals}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text size="sm">
        A worker plays episodes and simulates how they could continue from some of their decisions. The
        returns of these futures estimate how wrong the critic's values are.
      </Text>
      <NoPlayer executor={run.executor} />
      <NativeSelect
        label="Checkpoint"
        data={checkpointChoices(checkpoints)}
        value={draft.checkpoint}
        error={problems.checkpoint}
        data-autofocus
        onChange={(event) => update({ checkpoint: event.currentTarget.value })}
      />
      <div className={jobClasses.pair}>
        {number("episodes", "Episodes", "Played by the run's protocol.")}
        {number("every", "Every k-th decision", "By default, about 40 decisions in total.")}
        {number("futures", "Futures", "Per decision.")}
        {number("horizon", "Longest future", "In decisions. Then the critic's value counts.")}
        {number("seed", "Seed", "The same seed gives the same result.")}
      </div>
      <Checkbox
        label="Measure the regret of the chosen actions"
        description="Simulates futures of each action too. For an Atari game, this takes about 15 minutes instead of two."
        checked={draft.measure_regret}
        onChange={(event) => update({ measure_regret: event.currentTarget.checked })}
      />
    </JobForm>
  );
}

interface Draft {
  /** "newest", "best", or the id of a checkpoint. */
  checkpoint: string;
  episodes: string;
  /** Empty for about 40 decisions in total. */
  every: string;
  futures: string;
  horizon: string;
  seed: string;
  measure_regret: boolean;
}

const FIELDS = ["checkpoint", "episodes", "every", "futures", "horizon", "seed", "measure_regret"] as const;
type Problems = Partial<Record<(typeof FIELDS)[number], string>>;

const LIMITS = {
  episodes: [1, 100],
  every: [1, 1_000_000],
  futures: [8, 256],
  horizon: [1, 10_000],
  seed: [0, 2 ** 53],
} as const;

const createDraft = (chosen: Checkpoint | undefined): Draft => ({
  checkpoint: chosen ? String(chosen.id) : "newest",
  episodes: "5",
  every: "",
  futures: "16",
  horizon: "200",
  seed: "1",
  measure_regret: true,
});

/** Return what the server would refuse, by field. */
function findProblems(draft: Draft): Problems {
  const problems: Problems = {};
  for (const [field, [low, high]] of Object.entries(LIMITS) as [
    keyof typeof LIMITS,
    readonly [number, number],
  ][]) {
    const isDefault = field === "every" && draft.every.trim() === "";
    if (!isDefault && !isWholeBetween(draft[field], low, high))
      problems[field] = `Enter a whole number from ${exact(low)} to ${exact(high)}.`;
  }
  return problems;
}

function toRequest({ checkpoint, every, measure_regret, ...numbers }: Draft): CalibrationRequest {
  return {
    checkpoint: parseCheckpoint(checkpoint),
    every: every.trim() === "" ? null : Number(every),
    episodes: Number(numbers.episodes),
    futures: Number(numbers.futures),
    horizon: Number(numbers.horizon),
    seed: Number(numbers.seed),
    measure_regret,
  };
}
