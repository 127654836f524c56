import { ActionIcon, Group, Stack, Textarea, TextInput, Title } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconTrash } from "@tabler/icons-react";
import { useDebouncedValue } from "@mantine/hooks";
import { SIGNED_IN_SOURCE } from "@/api/reports";
import type { ReportBlock } from "@/api/types";
import { FormErrors } from "@/ui/FormErrors";
import { BlockView } from "./BlockView";
import { ChartFields } from "@/charts/fields/ChartFields";
import { lackOf, nameOf, titleOfKind } from "./draft";
import { ReplayFields } from "./ReplayFields";
import classes from "./reports.module.css";
import { TableFields } from "./TableFields";

const PREVIEW_MS = 400;

interface BlockEditorProps {
  /** Id of its section on the page. */
  id: string;
  block: ReportBlock;
  place: number;
  last: boolean;
  /** Errors from the server. */
  problems: string[];
  onChange: (block: ReportBlock) => void;
  onMove: (by: -1 | 1) => void;
  onDelete: () => void;
}

/** Editor of one block with a preview. */
export function BlockEditor(props: BlockEditorProps) {
  const { id, block, place, last, problems, onMove, onDelete } = props;
  const name = nameOf(block, place);
  const [shown] = useDebouncedValue(block, PREVIEW_MS);
  return (
    <section id={id} tabIndex={-1} className={classes.card} aria-label={name}>
      <Group justify="space-between" wrap="nowrap">
        <Title order={2} size="h4">
          {titleOfKind(block)}
        </Title>
        <Group gap={4} wrap="nowrap">
          <ActionIcon aria-label={`Move up: ${name}`} disabled={place === 0} onClick={() => onMove(-1)}>
            <IconArrowUp size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon aria-label={`Move down: ${name}`} disabled={last} onClick={() => onMove(1)}>
            <IconArrowDown size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon aria-label={`Delete: ${name}`} onClick={onDelete}>
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      <Stack gap="xs" mt={4}>
        <Fields {...props} />
        <FormErrors messages={problems} />
        {lackOf(block) === null && shown.kind === block.kind && lackOf(shown) === null && (
          <BlockView source={SIGNED_IN_SOURCE} block={withoutCaption(shown)} place={place} />
        )}
      </Stack>
    </section>
  );
}

function Fields({ block, onChange }: BlockEditorProps) {
  if (block.kind === "text")
    return (
      <Textarea
        label="Markdown"
        description="# Heading, - list, | table |, `code`, **bold**, *italic*, ~~struck~~, [link](https://…), formula $x^2$ or $$…$$. Images must be stored in Arcadia: ![words](/api/v1/files/7). Other images show only their text. HTML stays text."
        autosize
        minRows={3}
        maxLength={20_000}
        value={block.markdown}
        onChange={(event) => onChange({ ...block, markdown: event.currentTarget.value })}
      />
    );
  return (
    <>
      {block.kind === "chart" && (
        <ChartFields address={block.address} onChange={(address) => onChange({ ...block, address })} />
      )}
      {block.kind === "table" && <TableFields block={block} onChange={onChange} />}
      {(block.kind === "replay" || block.kind === "review" || block.kind === "practice") && (
        <ReplayFields block={block} onChange={onChange} />
      )}
      <TextInput
        label="Caption"
        maxLength={500}
        value={block.caption}
        onChange={(event) => onChange({ ...block, caption: event.currentTarget.value })}
      />
    </>
  );
}

/** Remove the caption from the preview, so that typing it fetches nothing. */
function withoutCaption(block: ReportBlock): ReportBlock {
  return block.kind === "text" ? block : { ...block, caption: "" };
}
