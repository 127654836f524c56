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

const MOST = { seed: Number.MAX_SAFE_INTEGER, episode: 999_999 };

/** Asks which episode of a checkpoint is to be recorded. */
export function RecordModal({ run, checkpoint, onClose }: RecordModalProps) {
  const [draft, setDraft] = useState<Record<Field, string>>({ seed: "1", episode: "0" });
  const [problems, setProblems] = useState<Partial<Record<Field, string>>>({});
  const [refusals, setRefusals] = useState<string[]>([]);
  const ask = useRequestRecording(run.id);
  const navigate = useNavigate();

  function put(field: Field, text: string) {
    setDraft((before) => ({ ...before, [field]: text }));
    setProblems({});
    setRefusals([]);
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    const wrong = FIELDS.filter((field) => !isWhole(draft[field], MOST[field]));
    setProblems(
      Object.fromEntries(wrong.map((field) => [field, `Give a whole number from 0 to ${MOST[field]}.`])),
    );
    if (wrong.length > 0) return;
    try {
      await ask.mutateAsync({
        checkpoint: checkpoint.id,
        seed: Number(draft.seed),
        episode: Number(draft.episode),
      });
      notifyDone(`Asked for a recording at ${short(checkpoint.step, "steps")}.`);
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
      onChange={(event) => put(name, event.currentTarget.value)}
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
            A worker plays one episode by the run's protocol and films it with what the agent thinks. It
            appears among the replays.
          </Text>
          {field("seed", "Seed", "The same seed gives the same episode.")}
          {field("episode", "Episode", "Which episode of an evaluation with this seed, from 0.")}
          <FormErrors messages={refusals} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={ask.isPending}>
              Record
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

const isWhole = (text: string, most: number) => /^\d+$/.test(text.trim()) && Number(text) <= most;
