/** What somebody is typing into a report, kept by the browser until the server has it. */

import { type ReportContent, runsAt } from "@/api/reports";
import type { ReportBlock, StoredBlock } from "@/api/types";
import { browserStorage } from "@/ui/pageStorage";
import { hasFields, NEW_CHART } from "./chartChoice";

export interface KeptReport extends ReportContent {
  /** The version that it began with. */
  version: number;
}

const place = (id: number) => `arcadia-report-${id}`;

export const readKept = (id: number) => browserStorage.read<KeptReport>(place(id));

export const keep = (id: number, kept: KeptReport) => browserStorage.keep(place(id), kept);

export const forget = (id: number) => browserStorage.forget(place(id));

/**
 * The server has what began with the same version as what is kept: if they say the same, nothing is kept any more,
 * also where the page has been left; else what is kept goes on from the version that was just saved, and is returned.
 */
export function settle(id: number, saved: KeptReport, version: number): KeptReport | null {
  const kept = readKept(id);
  if (kept?.version !== saved.version) return null;
  if (textOf(kept) === textOf(saved)) {
    forget(id);
    return null;
  }
  const more = { ...kept, version };
  keep(id, more);
  return more;
}

/** What tells two states of a report apart. */
export const textOf = ({ title, blocks }: ReportContent) => JSON.stringify({ title, blocks });

/** What a block still lacks before readers can see it, or null. */
export function lackOf(block: ReportBlock): string | null {
  if (block.kind === "chart" && block.address === "") return "lacks the address of its figure";
  if (block.kind === "chart" && hasFields(block.address) && runsAt(block.address).length === 0)
    return "lacks its runs";
  if (block.kind === "table" && block.numbers.length === 0)
    return block.of === "study" ? "lacks its study" : "lacks its runs";
  if (block.kind === "replay" && block.video === 0) return "lacks its replay";
  return null;
}

/** Return the block as it is stored: one that is incomplete, or that the server refused, is stored as a draft. */
export function toStored(block: ReportBlock, refused: boolean): StoredBlock {
  if (lackOf(block) === null && !refused) return block;
  return { kind: "draft", content: JSON.stringify(block) };
}

/** Return the block that an editor shows for a stored one. */
export function toEditable(stored: StoredBlock): ReportBlock {
  if (stored.kind !== "draft") return stored;
  try {
    const block = JSON.parse(stored.content) as Partial<ReportBlock> | null;
    if (block?.kind && block.kind in NAMES) return { ...newBlock(block.kind), ...block } as ReportBlock;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  // Written by another program: keep its text.
  return { kind: "text", markdown: stored.content };
}

/** The first block that lacks something, in words. */
export function lackIn(blocks: readonly ReportBlock[]): string | null {
  const told = blocks.map((block, number) => ({ number: number + 1, lack: lackOf(block) }));
  const first = told.find(({ lack }) => lack !== null);
  return first ? `Block ${first.number} ${first.lack}.` : null;
}

const NAMES = { text: "Text", chart: "Chart", table: "Table", replay: "Replay" };

export const titleOfKind = (block: ReportBlock) => NAMES[block.kind];

/** What an editor calls a block: "Text, block 1". */
export const nameOf = (block: ReportBlock, place: number) => `${titleOfKind(block)}, block ${place + 1}`;

/** A block of a kind, with nothing in it yet. */
export function newBlock(kind: ReportBlock["kind"]): ReportBlock {
  if (kind === "text") return { kind, markdown: "" };
  if (kind === "chart") return { kind, address: NEW_CHART, caption: "" };
  if (kind === "replay") return { kind, video: 0, caption: "" };
  return {
    kind,
    of: "runs",
    numbers: [],
    columns: ["name", "method", "env", "step", "best_return"],
    caption: "",
  };
}

/** The list with one of its items some places up (below 0) or down. */
export function moved<T>(items: readonly T[], from: number, by: number): T[] {
  const list = [...items];
  const [item] = list.splice(from, 1);
  if (item !== undefined) list.splice(from + by, 0, item);
  return list;
}
