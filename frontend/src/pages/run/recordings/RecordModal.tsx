import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { useRequestRecording } from "@/api/recordings";
import type { Checkpoint, Run } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { short } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { FormErrors } from "@/ui/FormErrors";

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
  const [draft, setDraft] = useState<Record<Field, string>>({ seed: "1", episode: "0" });
  const [problems, setProblems] = useState<Partial<Record<Field, string>>>({});
  const [refusals, setRefusals] = useState<string[]>([]);
  const request = useRequestRecording(run.id);
  const navigate = useNavigate();

  function setField(field: Field, text: string) {
    setDraft((before) => ({ ...before, [field]: text }));
    setProblems({});
    setRefusals([]);
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    const invalid = FIELDS.filter((field) => !isWholeUpTo(draft[field], MAX_VALUES[field]));
    setProblems(
      Object.fromEntries(
        invalid.map((field) => [field, `Enter a whole number from 0 to ${MAX_VALUES[field]}.`]),
      ),
    );
    if (invalid.length > 0) return;
    try {
      await request.mutateAsync({
        checkpoint: checkpoint.id,
        seed: Number(draft.seed),
        episode: Number(draft.episode),
      });
      notifyDone(`Recording at ${short(checkpoint.step, "steps")} requested.`);
      onClose();
      await navigate(`/runs/${run.id}/replays`);
    } catch (error) {
      const { byField, general } = placeErrors(error, FIELDS);
      setProblems(byField);
      setRefusals(general);
    }
  }

  const field = (name: Field, label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      inputMode="numeric"
      value={draft[name]}
      error={problems[name]}
      onChange={(event) => setField(name, event.currentTarget.value)}
    />
  );

  return (
    <Modal
      opened
      onClose={onClose}
      title={`Record the checkpoint at ${short(checkpoint.step, "steps")}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack gap="md">
          <Text size="sm">
            A worker plays one episode with the run's protocol and records it with the agent's values and
            probabilities. The recording appears with the replays.
          </Text>
          {field("seed", "Seed", "The same seed gives the same episode.")}
          {field(
            "episode",
            "Episode",
            "Number of the episode in an evaluation with this seed, starting at 0.",
          )}
          <FormErrors messages={refusals} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={request.isPending}>
              Record
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

const isWholeUpTo = (text: string, max: number) => /^\d+$/.test(text.trim()) && Number(text) <= max;
