import { useEffect, useRef, useState } from "react";
import { type ApiError, type FieldError, isRefusal } from "@/api/problem";
import { useSaveReport } from "@/api/reports";
import type { Report, ReportBlock } from "@/api/types";
import { hideNotice } from "@/ui/notify";
import { forget, keep, type KeptReport, lackOfReport, readKept, settle, textOf } from "./draft";

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
  /** It waits for more than its turn to be saved: something is lacking, refused, or away. */
  held: boolean;
  /** Somebody else changed the report since this draft began. */
  conflict: boolean;
  errors: FieldError[];
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
  const [all, setBlocks] = useState(() => start.blocks.map(draftBlock));
  const [saved, setSaved] = useState({ version: start.version, text: textOf(report) });
  const [failed, setFailed] = useState<{ text: string; error: Error } | null>(null);
  // Once the page has been left: what saves the rest.
  const later = useRef<((more: KeptReport) => void) | null>(null);
  const { mutate, isPending } = useSaveReport(report.id, (now, change) => {
    setSaved({ version: now.version, text: textOf(change) });
    setFailed(null);
    const more = settle(report.id, change, now.version);
    if (more && lackOfReport(more) === null) later.current?.(more);
  });

  const blocks = all.filter(({ deleted }) => !deleted);
  const content = { title, blocks: blocks.map(({ block }) => block) };
  const text = textOf(content);
  const dirty = text !== saved.text;
  const lack = lackOfReport(content);
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
      setBlocks([...report.blocks.map(draftBlock), ...all.filter(({ deleted }) => deleted)]);
    }
  }

  useEffect(() => {
    if (dirty) keep(report.id, { ...contentOf(text), version: saved.version });
    else forget(report.id);
  }, [dirty, report.id, text, saved.version]);

  useEffect(() => {
    if (!dirty || lack !== null || isPending || stopped) return;
    const save = () =>
      mutate(
        { ...contentOf(text), version: saved.version },
        { onError: (error) => setFailed({ text, error }) },
      );
    const timer = setTimeout(save, away ? AGAIN_MS : editing ? SAVE_MS : 0);
    return () => clearTimeout(timer);
  }, [dirty, lack, isPending, stopped, text, saved.version, away, editing, mutate]);

  // Another page, right after the last key: nobody waits for the moment any more.
  const leave = useRef<() => void>(() => undefined);
  useEffect(() => {
    leave.current = () => {
      for (const { key, deleted } of all) if (deleted) hideNotice(deletionNotice(key));
      if (dirty && lack === null && !isPending && !stopped)
        mutate({ ...contentOf(text), version: saved.version });
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
    held: dirty && (lack !== null || stopped || away),
    conflict,
    errors: refused?.text === text ? refused.error.fieldErrors : [],
  };
}

/** What was typed before and never saved, or else the report itself. */
function beginningOf(report: Report): KeptReport {
  const kept = readKept(report.id);
  return kept && textOf(kept) !== textOf(report) ? kept : report;
}

const contentOf = (text: string) => JSON.parse(text) as { title: string; blocks: ReportBlock[] };

interface Standing {
  dirty: boolean;
  lack: string | null;
  conflict: boolean;
  refused: ApiError | null;
  away: boolean;
}

function wordsOf({ dirty, lack, conflict, refused, away }: Standing): string {
  if (!dirty) return "Saved";
  if (conflict) return "Not saved: the report was changed elsewhere";
  if (refused) return `Not saved: ${refused.message}`;
  if (lack !== null) return `Not saved yet: ${lack}`;
  if (away) return "Not saved: the server does not answer. This browser keeps it and tries again";
  return "Saving…";
}
