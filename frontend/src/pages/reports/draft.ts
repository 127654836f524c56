/** Draft of a report, stored in the browser until the server has saved it. */

import { lacksRuns } from "@/api/figures";
import type { ReportContent } from "@/api/reports";
import type { ReportBlock, StoredBlock } from "@/api/types";
import { browserStorage } from "@/ui/pageStorage";
import { NEW_CHART } from "@/charts/fields/chartChoice";

export interface KeptReport extends ReportContent {
  /** Version of the report that the draft is based on. */
  version: number;
}

const storageKey = (id: number) => `arcadia-report-${id}`;

export const readKept = (id: number) => browserStorage.read<KeptReport>(storageKey(id));

export const keep = (id: number, kept: KeptReport) => browserStorage.keep(storageKey(id), kept);

export const forget = (id: number) => browserStorage.forget(storageKey(id));

/**
 * Update the stored draft after a save. If it equals the saved report, remove it, even after the page was left.
 * Otherwise return it, based on the version that was just saved.
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

/** Return a text that identifies the content of a report. */
export const textOf = ({ title, blocks }: ReportContent) => JSON.stringify({ title, blocks });

/** Return what a block lacks before readers can see it, or null. */
export function lackOf(block: ReportBlock): string | null {
  if (block.kind === "chart" && block.address === "") return "needs a figure URL";
  if (block.kind === "chart" && lacksRuns(block.address)) return "needs a run";
  if (block.kind === "table" && block.numbers.length === 0)
    return block.of === "study" ? "needs a study" : "needs a run";
  if ("replay" in block && block.replay === 0) return "needs a replay";
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
  // Keep the text of a block that another program wrote.
  return { kind: "text", markdown: stored.content };
}

/** Return a message about the first incomplete block, or null. */
export function lackIn(blocks: readonly ReportBlock[]): string | null {
  const incomplete = blocks.map((block, number) => ({ number: number + 1, lack: lackOf(block) }));
  const first = incomplete.find(({ lack }) => lack !== null);
  return first ? `Block ${first.number} ${first.lack}.` : null;
}

const NAMES = {
  text: "Text",
  chart: "Chart",
  table: "Table",
  replay: "Replay",
  review: "Review",
  practice: "Practice",
};

export const titleOfKind = (block: ReportBlock) => NAMES[block.kind];

/** Return the name of a block in the editor: "Text, block 1". */
export const nameOf = (block: ReportBlock, place: number) => `${titleOfKind(block)}, block ${place + 1}`;

/** Return an empty block of a kind. */
export function newBlock(kind: ReportBlock["kind"]): ReportBlock {
  if (kind === "text") return { kind, markdown: "" };
  if (kind === "chart") return { kind, address: NEW_CHART, caption: "" };
  if (kind === "replay" || kind === "review" || kind === "practice") return { kind, replay: 0, caption: "" };
  return {
    kind,
    of: "runs",
    numbers: [],
    columns: ["name", "method", "env", "step", "best_return"],
    caption: "",
  };
}

/** Return the list with one item moved up (negative) or down. */
export function moved<T>(items: readonly T[], from: number, by: number): T[] {
  const list = [...items];
  const [item] = list.splice(from, 1);
  if (item !== undefined) list.splice(from + by, 0, item);
  return list;
}
