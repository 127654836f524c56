import { useEffect, useRef, useState } from "react";
import { type ApiError, type FieldError, isRefusal } from "@/api/problem";
import { useSaveReport } from "@/api/reports";
import type { Report, ReportBlock } from "@/api/types";
import { forget, keep, type KeptReport, lackIn, readKept, settle, textOf } from "./draft";

/** After the last key. */
const SAVE_MS = 800;
/** The server was away. */
const AGAIN_MS = 4000;

/** A block with a name that stays while it is moved. */
export interface DraftBlock {
  key: number;
  block: ReportBlock;
}

export interface ReportDraft {
  title: string;
  blocks: DraftBlock[];
  setTitle: (title: string) => void;
  setBlocks: (change: (blocks: DraftBlock[]) => DraftBlock[]) => void;
  /** In words, whether the server has it. */
  state: string;
  /** Somebody else changed the report since this draft began. */
  conflict: boolean;
  errors: FieldError[];
}

let named = 0;
export const draftBlock = (block: ReportBlock): DraftBlock => ({ key: (named += 1), block });

/** What is being typed: saved a moment after each change, and kept by the browser until it is. */
export function useReportDraft(report: Report): ReportDraft {
  const [start] = useState(() => beginningOf(report));
  const [title, setTitle] = useState(start.title);
  const [blocks, setBlocks] = useState(() => start.blocks.map(draftBlock));
  const [saved, setSaved] = useState({ version: start.version, text: textOf(report) });
  const [refused, setRefused] = useState<{ text: string; error: ApiError } | null>(null);
  const { mutate, isPending, error } = useSaveReport(report.id, (now, saved) =>
    settle(report.id, saved, now.version),
  );

  const text = textOf({ title, blocks: blocks.map(({ block }) => block) });
  const dirty = text !== saved.text;
  const away = error !== null && !isRefusal(error);
  const lack = title.trim() === "" ? "The report lacks a title." : lackIn(blocks.map(({ block }) => block));
  const stopped = refused !== null && (refused.text === text || refused.error.status === 409);
  const conflict = refused?.error.status === 409;

  useEffect(() => {
    if (dirty) keep(report.id, { ...contentOf(text), version: saved.version });
    else forget(report.id);
  }, [dirty, report.id, text, saved.version]);

  useEffect(() => {
    if (!dirty || lack !== null || isPending || stopped) return;
    const timer = setTimeout(
      () =>
        mutate(
          { ...contentOf(text), version: saved.version },
          {
            onSuccess: ({ version }) => {
              setSaved({ version, text });
              setRefused(null);
            },
            onError: (error) => {
              if (isRefusal(error)) setRefused({ text, error });
            },
          },
        ),
      away ? AGAIN_MS : SAVE_MS,
    );
    return () => clearTimeout(timer);
  }, [dirty, lack, isPending, stopped, text, saved.version, away, mutate]);

  // Read, or another page, right after the last key: nobody waits for the moment any more.
  const leave = useRef<() => void>(() => undefined);
  useEffect(() => {
    leave.current = () => {
      if (dirty && lack === null && !isPending && !stopped)
        mutate({ ...contentOf(text), version: saved.version });
    };
  });
  useEffect(() => () => leave.current(), []);

  const errors = refused && refused.text === text ? refused.error.fieldErrors : [];
  return {
    title,
    blocks,
    setTitle,
    setBlocks,
    state: wordsOf({
      dirty,
      lack,
      conflict,
      refused: stopped ? (refused?.error ?? null) : null,
      away,
    }),
    conflict,
    errors,
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
