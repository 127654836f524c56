import { Text, TextInput } from "@mantine/core";
import { useNavigate } from "react-router";
import { useRequestRecording } from "@/api/recordings";
import type { Checkpoint, Run } from "@/api/types";
import { isWholeBetween } from "@/config-form/numbers";
import { useRequestForm } from "@/config-form/useRequestForm";
import { short } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { JobForm, JobModal } from "../JobModal";

interface RecordModalProps {
  run: Run;
  checkpoint: Checkpoint;
  onClose: () => void;
}

const FIELDS = ["seed", "episode"] as const;
type Field = (typeof FIELDS)[number];

const MAX_VALUES = { seed: Number.MAX_SAFE_INTEGER, episode: 999_999 };

/** Dialog that requests a replay of one episode from a checkpoint. */
export function RecordModal({ run, checkpoint, onClose }: RecordModalProps) {
  const request = useRequestRecording(run.id);
  const navigate = useNavigate();
  const { draft, problems, refusals, update, submit } = useRequestForm({
    createDraft: () => ({ seed: "1", episode: "0" }),
    fields: FIELDS,
    findProblems,
    async send({ seed, episode }) {
      await request.mutateAsync({ checkpoint: checkpoint.id, seed: Number(seed), episode: Number(episode) });
      notifyDone(`Recording at ${short(checkpoint.step, "steps")} requested.`);
      onClose();
      await navigate(`/runs/${run.id}/replays`);
    },
  });

  const field = (name: Field, label: string, description: string) => (
    <TextInput
      data-autofocus={name === "seed" || undefined}
      label={label}
      description={description}
      inputMode="numeric"
      value={draft[name]}
      error={problems[name]}
      onChange={(event) => update({ [name]: event.currentTarget.value })}
    />
  );

  return (
    <JobModal title={`Record the checkpoint at ${short(checkpoint.step, "steps")}`} onClose={onClose}>
      <JobForm
        action="Record"
        isSending={request.isPending}
        refusals={refusals}
        onSubmit={submit}
        onClose={onClose}
      >
        <Text size="sm">
          A worker plays one episode with the run's protocol and records it with the agent's values and
          probabilities. The recording appears with the replays.
        </Text>
        {field("seed", "Seed", "The same seed gives the same episode.")}
        {field("episode", "Episode", "Number of the episode in an evaluation with this seed, starting at 0.")}
      </JobForm>
    </JobModal>
  );
}

function findProblems(draft: Record<Field, string>): Partial<Record<Field, string>> {
  const invalid = FIELDS.filter((field) => !isWholeBetween(draft[field], 0, MAX_VALUES[field]));
  return Object.fromEntries(
    invalid.map((field) => [field, `Enter a whole number from 0 to ${MAX_VALUES[field]}.`]),
  );
}
