import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import { useNavigate } from "react-router";
import { useCreateReport } from "@/api/reports";
import type { Report, ReportBlock, StoredBlock } from "@/api/types";
import { notifyUndoable } from "@/ui/notify";
import { BlockEditor } from "./BlockEditor";
import { forget, moved, nameOf, newBlock, toStored } from "./draft";
import classes from "./reports.module.css";
import { deletionNotificationId, draftBlock, type DraftBlock, type ReportDraft } from "./useReportDraft";

const KINDS = ["text", "chart", "table", "replay", "review", "practice"] as const;
const ADDING = "add-a-block";
const sectionOf = (key: number) => `block-${key}`;

interface ReportEditorProps {
  report: Report;
  draft: ReportDraft;
  /** Discard the draft and show the server's version. */
  discard: () => void;
}

/** Editor of the title and the blocks, with previews. */
export function ReportEditor({ report, draft, discard }: ReportEditorProps) {
  const { blocks, setBlocks } = draft;
  const change = (key: number, block: ReportBlock) =>
    setBlocks((all) => all.map((each) => (each.key === key ? { ...each, block } : each)));
  const move = (from: DraftBlock, to: DraftBlock | undefined) =>
    to && setBlocks((all) => moved(all, all.indexOf(from), all.indexOf(to) - all.indexOf(from)));
  const mark = (key: number, deleted: boolean) =>
    setBlocks((all) => all.map((each) => (each.key === key ? { ...each, deleted } : each)));
  const focusLater = useFocusLater();
  function remove({ key, block }: DraftBlock, place: number) {
    const next = blocks[place + 1];
    mark(key, true);
    focusLater(next ? sectionOf(next.key) : ADDING);
    notifyUndoable(deletionNotificationId(key), `Deleted: ${nameOf(block, place)}.`, () => {
      mark(key, false);
      focusLater(sectionOf(key));
    });
  }
  return (
    <Stack gap="md">
      {draft.conflict && (
        <Conflict
          title={draft.title}
          blocks={blocks.map(({ block }) => toStored(block, draft.problemsOf(block).length > 0))}
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
      {blocks.map((each, place) => (
        <BlockEditor
          key={each.key}
          id={sectionOf(each.key)}
          block={each.block}
          place={place}
          last={place === blocks.length - 1}
          problems={draft.problemsOf(each.block)}
          onChange={(changed) => change(each.key, changed)}
          onMove={(by) => move(each, blocks[place + by])}
          onDelete={() => remove(each, place)}
        />
      ))}
      <Group id={ADDING} tabIndex={-1} gap="xs" role="group" aria-label="Add a block">
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

/** Return a function that focuses an element by its id after the next render. */
function useFocusLater(): (id: string) => void {
  const next = useRef("");
  useEffect(() => {
    document.getElementById(next.current)?.focus();
    next.current = "";
  });
  return (id) => {
    next.current = id;
  };
}

interface ConflictProps {
  title: string;
  blocks: StoredBlock[];
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
    <Alert color="yellow" variant="light" title="This report was changed elsewhere">
      <Text size="sm">Your draft is saved in this browser.</Text>
      <Group gap="xs" mt="xs">
        <Button size="xs" loading={create.isPending} onClick={copy}>
          Save draft as copy
        </Button>
        <Button size="xs" variant="default" onClick={discard}>
          Discard draft
        </Button>
      </Group>
    </Alert>
  );
}
