import { Button, FileInput, Group, Modal, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useImportStartSet } from "@/api/startSets";
import type { Game, StartSetFile } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { plural } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { FormErrors } from "@/ui/FormErrors";
import { ProjectSelect } from "@/ui/ProjectSelect";
import { useUsualProject } from "@/ui/currentProject";

interface ImportStartsProps {
  game: Game;
  onClose: () => void;
}

/** Dialog to import a start set from a file. */
export function ImportStarts({ game, onClose }: ImportStartsProps) {
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const [problems, setProblems] = useState<{ file?: string; name?: string }>({});
  const [refusals, setRefusals] = useState<string[]>([]);
  const store = useImportStartSet();
  const usual = useUsualProject();
  const [chosen, setProject] = useState<string | null>(null);
  const project = chosen ?? usual;

  function choose(chosen: File | null) {
    setFile(chosen);
    setName((before) => before || (chosen?.name.replace(/\.json$/i, "") ?? ""));
    setProblems({});
    setRefusals([]);
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    setRefusals([]);
    const read = file ? await startsIn(file, game) : { problem: "Choose a file." };
    const problem = "problem" in read ? read.problem : undefined;
    const unnamed = name.trim() === "" ? "Enter a name." : undefined;
    setProblems({ ...(problem && { file: problem }), ...(unnamed && { name: unnamed }) });
    if (!("points" in read) || unnamed) return;
    try {
      const stored = await store.mutateAsync({ name: name.trim(), project, points: read.points });
      notifyDone(`Stored ${plural(stored.points, "start point")} as ${stored.name}.`);
      onClose();
    } catch (error) {
      const { byField, general } = placeErrors(error, ["name"]);
      setProblems(byField);
      setRefusals(general);
    }
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={`Import start points of ${game.name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack gap="md">
          <FileInput
            label="File"
            description="JSON file from arcadia evaluate --save-starts or from an export."
            placeholder="Choose a JSON file"
            styles={{ placeholder: { color: "var(--arcadia-dim)" } }}
            accept="application/json,.json"
            value={file}
            error={problems.file}
            onChange={choose}
          />
          <TextInput
            label="Name"
            description="Who played, or how it was made."
            maxLength={100}
            value={name}
            error={problems.name}
            onChange={(event) => {
              setName(event.currentTarget.value);
              setProblems({});
            }}
          />
          <ProjectSelect
            label="Project"
            comboboxProps={{ withinPortal: true }}
            value={project}
            onChange={setProject}
          />
          <FormErrors messages={refusals} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={store.isPending}>
              Import
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Return the start set in a file. The server validates all fields. */
async function startsIn(file: File, game: Game): Promise<{ points: StartSetFile } | { problem: string }> {
  const content = await file.text();
  let points: unknown;
  try {
    points = JSON.parse(content);
  } catch {
    return { problem: `${file.name} is not a JSON file.` };
  }
  if (typeof points !== "object" || points === null || !("env" in points))
    return { problem: `${file.name} is not a start set: it names no game.` };
  if (points.env !== game.env)
    return { problem: `${file.name} is for ${String(points.env)}. Import it on that game's page.` };
  return { points: points as StartSetFile };
}
