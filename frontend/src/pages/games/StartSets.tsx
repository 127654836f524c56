import { ActionIcon, Button, FileInput, Group, Modal, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDownload, IconTrash, IconUpload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { address } from "@/api/client";
import { useMayWrite } from "@/api/projects";
import { startSetsQuery, useDeleteStartSet, useImportStartSet } from "@/api/startSets";
import type { Game, StartSet, StartSetFile } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { useUsualProject } from "@/ui/currentProject";
import { DataTable } from "@/ui/DataTable";
import { exact, plural } from "@/ui/format";
import { FormErrors } from "@/ui/FormErrors";
import { notifyDone } from "@/ui/notify";
import { ProjectSelect } from "@/ui/ProjectSelect";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { TextWithCode } from "@/ui/TextWithCode";
import classes from "./games.module.css";

const WHOSE = { human: "A person's play", agent: "An agent's play" };
const HOW_TO_MAKE =
  "`arcadia evaluate --run-dir DIR --protocol no-op-5min --save-starts FILE` makes a set from an agent's games.";

/** Start points of the protocols human-starts and agent-starts. */
export function StartSets({ game }: { game: Game }) {
  const sets = useQuery(startSetsQuery(game.env));
  const mayWrite = useMayWrite();
  const [importing, asks] = useDisclosure(false);
  const [leaving, setLeaving] = useState<StartSet>();
  return (
    <section className={classes.card} aria-label="Start points">
      <Group justify="space-between" gap="xs">
        <Title order={2}>Start points</Title>
        {mayWrite && (
          <Button size="xs" variant="default" leftSection={<IconUpload size={16} />} onClick={asks.open}>
            Import start set
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed" mt={4} maw={860}>
        The protocols human-starts and agent-starts start episodes at stored points of play, so that an agent
        cannot rely on a memorized opening. Their scores are not comparable.{" "}
        <TextWithCode>{HOW_TO_MAKE}</TextWithCode>
      </Text>
      {sets.isError && !sets.data && <QueryError error={sets.error} retry={() => void sets.refetch()} />}
      {sets.data?.length === 0 && (
        <Text size="sm" mt={8}>
          {game.name} has no start points yet.
        </Text>
      )}
      {sets.data && sets.data.length > 0 && <SetTable sets={sets.data} onRemove={setLeaving} />}
      {importing && <ImportStarts game={game} onClose={asks.close} />}
      {leaving && <RemoveStarts set={leaving} onClose={() => setLeaving(undefined)} />}
    </section>
  );
}

interface SetTableProps {
  sets: readonly StartSet[];
  onRemove: (set: StartSet) => void;
}

function SetTable({ sets, onRemove }: SetTableProps) {
  return (
    <DataTable
      className={classes.ranking}
      verticalSpacing={6}
      horizontalSpacing="xs"
      mt={8}
      rows={sets}
      rowKey={({ id }) => id}
      columns={[
        {
          title: "Set",
          cell: (set) => (
            <>
              {set.name} <span className={classes.protocol}>{set.protocol}</span>
              <div className={classes.dim}>
                {WHOSE[set.player]}: {set.source} · project {set.project} · <TimeAgo time={set.created_at} />
              </div>
            </>
          ),
        },
        { title: "Points", numeric: true, cell: ({ points }) => exact(points) },
        {
          title: "Actions",
          isTitleHidden: true,
          cell: (set) => (
            <Group gap={4} justify="flex-end" wrap="nowrap">
              <ActionIcon
                component="a"
                href={address(`/export/start-sets/${set.id}.json`)}
                download
                aria-label={`Export ${set.name}`}
              >
                <IconDownload size={16} />
              </ActionIcon>
              {set.may_edit && (
                <ActionIcon aria-label={`Remove ${set.name}`} onClick={() => onRemove(set)}>
                  <IconTrash size={16} />
                </ActionIcon>
              )}
            </Group>
          ),
        },
      ]}
    />
  );
}

function RemoveStarts({ set, onClose }: { set: StartSet; onClose: () => void }) {
  const remove = useDeleteStartSet();
  const removeIt = () =>
    remove.mutate(set.id, {
      onSuccess: () => notifyDone(`Start points ${set.name} removed`),
      onSettled: onClose,
    });
  return (
    <ConfirmModal
      opened
      title="Remove start points?"
      action="Remove start points"
      danger
      busy={remove.isPending}
      onConfirm={removeIt}
      onClose={onClose}
    >
      <Text size="sm">
        {set.name}, {plural(set.points, "point")}. New evaluations cannot use this set. Existing scores are
        kept. Export the set first if you may need it again.
      </Text>
    </ConfirmModal>
  );
}

interface ImportStartsProps {
  game: Game;
  onClose: () => void;
}

/** Dialog to import a start set from a file. */
function ImportStarts({ game, onClose }: ImportStartsProps) {
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
