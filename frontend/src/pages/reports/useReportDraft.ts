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

/** After the last key. */
const SAVE_MS = 800;
/** The server was away. */
const AGAIN_MS = 4000;

/** A block with a name that stays while it is moved. */
export interface DraftBlock {
  key: number;
  block: ReportBlock;
  /** It keeps its place, to be put back there. */
  deleted?: boolean;
}

export interface ReportDraft {
  title: string;
  /** Those that are not deleted. */
  blocks: DraftBlock[];
  setTitle: (title: string) => void;
  /** Change all of them, the deleted ones too. */
  setBlocks: (change: (blocks: DraftBlock[]) => DraftBlock[]) => void;
  /** Whether the server has it. */
  saved: boolean;
  /** The same in words. */
  state: string;
  /** It waits for more than its turn to be saved: it was refused, or the server is away. */
  held: boolean;
  /** Somebody else changed the report since this draft began. */
  conflict: boolean;
  /** What the server refused of a block. */
  problemsOf: (block: ReportBlock) => string[];
}

let named = 0;
export const draftBlock = (block: ReportBlock): DraftBlock => ({ key: (named += 1), block });

/** The notice by which a deleted block is put back, for as long as the page is open. */
export const deletionNotice = (key: number) => `delete block ${key}`;

/**
 * What is being typed: saved a moment after each change, or at once where it is no longer edited, and kept by the
 * browser until it is. Where nothing is typed it follows the report.
 */
export function useReportDraft(report: Report, editing: boolean): ReportDraft {
  const [start] = useState(() => beginningOf(report));
  const [title, setTitle] = useState(start.title);
  const [all, setBlocks] = useState(() => start.blocks.map(toEditable).map(draftBlock));
  const [saved, setSaved] = useState({ version: start.version, text: textOf(report) });
  const [failed, setFailed] = useState<{ text: string; error: Error } | null>(null);
  // By the block's text; such a block is saved as a draft, so that it does not hold up the others.
  const [refusals, setRefusals] = useState<ReadonlyMap<string, string[]>>(new Map());
  // Once the page has been left: what saves the rest.
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
    // A report without a title keeps the one it had; the blocks are saved.
    title: title.trim() === "" ? contentOf(saved.text).title : title,
    blocks: blocks.map(({ block }) => toStored(block, problemsOf(block).length > 0)),
  };
  const text = textOf(content);
  const dirty = text !== saved.text;
  const lack = title.trim() === "" ? "The report lacks a title." : lackIn(blocks.map(({ block }) => block));
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
    const timer = setTimeout(save, away ? AGAIN_MS : editing ? SAVE_MS : 0);
    return () => clearTimeout(timer);
  }, [dirty, isPending, stopped, text, saved.version, away, editing, mutate]);

  // Another page, right after the last key: nobody waits for the moment any more.
  const leave = useRef<() => void>(() => undefined);
  useEffect(() => {
    leave.current = () => {
      for (const { key, deleted } of all) if (deleted) hideNotification(deletionNotice(key));
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
    state: wordsOf({ dirty, lack, conflict, refused: stopped ? (refused?.error ?? null) : null, away }),
    held: dirty && (stopped || away),
    conflict,
    problemsOf,
  };
}

/** What was typed before and never saved, or else the report itself. */
function beginningOf(report: Report): KeptReport {
  const kept = readKept(report.id);
  return kept && textOf(kept) !== textOf(report) ? kept : report;
}

const contentOf = (text: string) => JSON.parse(text) as { title: string; blocks: StoredBlock[] };

/** Return the blocks that the server refused, by their text; drafts are not among them. */
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

interface Standing {
  dirty: boolean;
  lack: string | null;
  conflict: boolean;
  refused: ApiError | null;
  away: boolean;
}

function wordsOf({ dirty, lack, conflict, refused, away }: Standing): string {
  if (!dirty && lack !== null)
    return /^Block/.test(lack)
      ? `Saved. ${lack} Readers do not see it yet.`
      : `Saved except for this: ${lack}`;
  if (!dirty) return "Saved";
  if (conflict) return "Not saved: the report was changed elsewhere";
  if (refused) return `Not saved: ${refused.message}`;
  if (away) return "Not saved: the server does not answer. This browser keeps it and tries again";
  return "Saving…";
}
