import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate } from "react-router";
import { useCreateReport } from "@/api/reports";
import type { Report, ReportBlock } from "@/api/types";
import { BlockEditor } from "./BlockEditor";
import { forget, moved, newBlock } from "./draft";
import classes from "./reports.module.css";
import { draftBlock, type ReportDraft } from "./useReportDraft";

const KINDS = ["text", "chart", "table", "replay"] as const;

interface ReportEditorProps {
  report: Report;
  draft: ReportDraft;
  /** Show the report as the server has it, without what was typed here. */
  discard: () => void;
}

/** Title and blocks to be typed and arranged; each block shows what a reader will see. */
export function ReportEditor({ report, draft, discard }: ReportEditorProps) {
  const { blocks, setBlocks } = draft;
  const change = (key: number, block: ReportBlock) =>
    setBlocks((all) => all.map((each) => (each.key === key ? { key, block } : each)));
  const problemAt = (place: number) =>
    draft.errors.filter(({ field }) => field.startsWith(`blocks.${place}.`)).map(({ message }) => message);
  return (
    <Stack gap="md">
      {draft.conflict && (
        <Conflict
          title={draft.title}
          blocks={blocks.map(({ block }) => block)}
          report={report}
          discard={discard}
        />
      )}
      <Group gap="xs" align="end">
        <TextInput
          label="Title"
          value={draft.title}
          maxLength={200}
          style={{ flex: 1, minWidth: 220 }}
          onChange={(event) => draft.setTitle(event.currentTarget.value)}
        />
        <span className={classes.state} role="status">
          {draft.state}
        </span>
      </Group>
      {blocks.map(({ key, block }, place) => (
        <BlockEditor
          key={key}
          block={block}
          place={place}
          last={place === blocks.length - 1}
          problems={problemAt(place)}
          onChange={(changed) => change(key, changed)}
          onMove={(by) => setBlocks((all) => moved(all, place, by))}
          onDelete={() => setBlocks((all) => all.filter((each) => each.key !== key))}
        />
      ))}
      <Group gap="xs" role="group" aria-label="Add a block">
        {KINDS.map((kind) => (
          <Button
            key={kind}
            variant="default"
            h={32}
            px="sm"
            leftSection={<IconPlus size={16} />}
            onClick={() => setBlocks((all) => [...all, draftBlock(newBlock(kind))])}
          >
            {`Add ${kind}`}
          </Button>
        ))}
      </Group>
    </Stack>
  );
}

interface ConflictProps {
  title: string;
  blocks: ReportBlock[];
  report: Report;
  discard: () => void;
}

function Conflict({ title, blocks, report, discard }: ConflictProps) {
  const create = useCreateReport();
  const navigate = useNavigate();
  const copy = () =>
    create.mutate(
      { title: `${title} (copy)`.slice(0, 200), blocks },
      {
        onSuccess: ({ id }) => {
          forget(report.id);
          void navigate(`/reports/${id}?edit=1`);
        },
      },
    );
  return (
    <Alert color="yellow" variant="light" title="This report was changed elsewhere meanwhile">
      <Text size="sm">Nothing is lost: what you typed is here, and this browser keeps it.</Text>
      <Group gap="xs" mt="xs">
        <Button size="xs" loading={create.isPending} onClick={copy}>
          Save mine as a copy
        </Button>
        <Button size="xs" variant="default" onClick={discard}>
          Discard mine, show theirs
        </Button>
      </Group>
    </Alert>
  );
}
