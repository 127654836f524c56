import { useEffect, useRef, useState } from "react";
import { type ApiError, isRefusal } from "@/api/problem";
import { useSaveReport } from "@/api/reports";
import type { Report, ReportBlock, StoredBlock } from "@/api/types";
import { hideNotification } from "@/ui/notify";
import {
  forget,
  keep,
  type KeptReport,
  lackIn,
  readKept,
  settle,
  textOf,
  toEditable,
  toStored,
} from "./draft";

/** Delay after the last key. */
const SAVE_MS = 800;
/** Delay before a retry if the server is unreachable. */
const RETRY_MS = 4000;

/** A block with a key that stays the same when it is moved. */
export interface DraftBlock {
  key: number;
  block: ReportBlock;
  /** True if deleted. The block keeps its position so that it can be restored. */
  deleted?: boolean;
}

export interface ReportDraft {
  title: string;
  /** Blocks that are not deleted. */
  blocks: DraftBlock[];
  setTitle: (title: string) => void;
  /** Change all blocks, including deleted ones. */
  setBlocks: (change: (blocks: DraftBlock[]) => DraftBlock[]) => void;
  /** True if the server has the draft. */
  saved: boolean;
  /** Status text. */
  state: string;
  /** True if saving is blocked: it was refused, or the server is unreachable. */
  held: boolean;
  /** True if the report was changed elsewhere since the draft started. */
  conflict: boolean;
  /** Return the server's errors of a block. */
  problemsOf: (block: ReportBlock) => string[];
}

let named = 0;
export const draftBlock = (block: ReportBlock): DraftBlock => ({ key: (named += 1), block });

/** Return the id of the notification that restores a deleted block. */
export const deletionNotificationId = (key: number) => `delete block ${key}`;

/**
 * State of a report draft. It is saved shortly after each change, or immediately when editing ends. Until then it is
 * stored in the browser. Without changes it follows the report.
 */
export function useReportDraft(report: Report, editing: boolean): ReportDraft {
  const [start] = useState(() => initialDraft(report));
  const [title, setTitle] = useState(start.title);
  const [all, setBlocks] = useState(() => start.blocks.map(toEditable).map(draftBlock));
  const [saved, setSaved] = useState({ version: start.version, text: textOf(report) });
  const [failed, setFailed] = useState<{ text: string; error: Error } | null>(null);
  // Keyed by the block's text. A refused block is saved as a draft, so that it does not block the others.
  const [refusals, setRefusals] = useState<ReadonlyMap<string, string[]>>(new Map());
  // Saves the rest after the page was left.
  const later = useRef<((more: KeptReport) => void) | null>(null);
  const { mutate, isPending } = useSaveReport(report.id, (now, change) => {
    setSaved({ version: now.version, text: textOf(change) });
    setFailed(null);
    const more = settle(report.id, change, now.version);
    if (more) later.current?.(more);
  });

  const blocks = all.filter(({ deleted }) => !deleted);
  const problemsOf = (block: ReportBlock) => refusals.get(JSON.stringify(block)) ?? [];
  const content = {
    // Without a title, save the blocks with the old title.
    title: title.trim() === "" ? contentOf(saved.text).title : title,
    blocks: blocks.map(({ block }) => toStored(block, problemsOf(block).length > 0)),
  };
  const text = textOf(content);
  const dirty = text !== saved.text;
  const lack = title.trim() === "" ? "Enter a title." : lackIn(blocks.map(({ block }) => block));
  const refused = failed && isRefusal(failed.error) ? { text: failed.text, error: failed.error } : null;
  const away = failed !== null && refused === null;
  const outdated = !isPending && report.version > saved.version;
  const conflict = refused?.error.status === 409 || (outdated && dirty);
  const stopped = conflict || refused?.text === text;

  if (outdated && (!dirty || text === textOf(report))) {
    setSaved({ version: report.version, text: textOf(report) });
    setFailed(null);
    if (text !== textOf(report)) {
      setTitle(report.title);
      setBlocks([...report.blocks.map(toEditable).map(draftBlock), ...all.filter(({ deleted }) => deleted)]);
    }
  }

  useEffect(() => {
    if (dirty) keep(report.id, { ...contentOf(text), version: saved.version });
    else forget(report.id);
  }, [dirty, report.id, text, saved.version]);

  useEffect(() => {
    if (!dirty || isPending || stopped) return;
    const save = () =>
      mutate(
        { ...contentOf(text), version: saved.version },
        {
          onError(error) {
            const refused = refusedBlocks(error, contentOf(text).blocks);
            if (refused.size > 0) setRefusals((known) => new Map([...known, ...refused]));
            else setFailed({ text, error });
          },
        },
      );
    const timer = setTimeout(save, away ? RETRY_MS : editing ? SAVE_MS : 0);
    return () => clearTimeout(timer);
  }, [dirty, isPending, stopped, text, saved.version, away, editing, mutate]);

  // Save immediately when the page is left.
  const leave = useRef<() => void>(() => undefined);
  useEffect(() => {
    leave.current = () => {
      for (const { key, deleted } of all) if (deleted) hideNotification(deletionNotificationId(key));
      if (dirty && !isPending && !stopped) mutate({ ...contentOf(text), version: saved.version });
    };
  });
  useEffect(() => {
    later.current = null;
    return () => {
      later.current = mutate;
      leave.current();
    };
  }, [mutate]);

  return {
    title,
    blocks,
    setTitle,
    setBlocks,
    saved: !dirty,
    state: statusText({ dirty, lack, conflict, refused: stopped ? (refused?.error ?? null) : null, away }),
    held: dirty && (stopped || away),
    conflict,
    problemsOf,
  };
}

/** Return the stored draft, or else the report. */
function initialDraft(report: Report): KeptReport {
  const kept = readKept(report.id);
  return kept && textOf(kept) !== textOf(report) ? kept : report;
}

const contentOf = (text: string) => JSON.parse(text) as { title: string; blocks: StoredBlock[] };

/** Return the refused blocks by their text, without drafts. */
function refusedBlocks(error: unknown, blocks: readonly StoredBlock[]): Map<string, string[]> {
  const refused = new Map<string, string[]>();
  if (!isRefusal(error)) return refused;
  for (const { field, message } of error.fieldErrors) {
    const block = blocks[Number(/^blocks\.(\d+)\./.exec(field)?.[1])];
    if (!block || block.kind === "draft") continue;
    const key = JSON.stringify(block);
    refused.set(key, [...(refused.get(key) ?? []), message]);
  }
  return refused;
}

interface SaveStatus {
  dirty: boolean;
  lack: string | null;
  conflict: boolean;
  refused: ApiError | null;
  away: boolean;
}

function statusText({ dirty, lack, conflict, refused, away }: SaveStatus): string {
  if (!dirty && lack !== null)
    return /^Block/.test(lack)
      ? `Saved. ${lack} Readers do not see it yet.`
      : `Saved with a problem: ${lack}`;
  if (!dirty) return "Saved";
  if (conflict) return "Not saved: the report was changed elsewhere";
  if (refused) return `Not saved: ${refused.message}`;
  if (away) return "Not saved: the server does not respond. Retrying. Your draft is saved in this browser";
  return "Saving…";
}
