import { type DragEvent, useState } from "react";
import { type ImportResult, useImportArchive } from "@/api/archives";
import { plural } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";

/** Imports of archive files and agents into a project or their own, from a button or dropped on the page. */
export function useImports(project: string | null) {
  const { importArchive, isImporting } = useImportArchive({
    onDone: (file, result) => notifyDone(describe(file.name, result)),
    onFailed: (file, error) => notifyProblem(`${file.name} was not imported. ${error.message}`),
  });
  const [isDropTarget, setDropTarget] = useState(false);
  const [agents, setAgents] = useState<File[]>([]);
  function add(files: File[]) {
    files.filter((file) => !isAgent(file)).forEach((file) => importArchive({ file, project }));
    setAgents((before) => [...before, ...files.filter(isAgent)]);
  }

  const dropTarget = {
    "data-drop-target": isDropTarget || undefined,
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      // Otherwise the browser would open the file.
      event.preventDefault();
      setDropTarget(true);
    },
    onDragLeave: ({ currentTarget, relatedTarget }: DragEvent) => {
      if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setDropTarget(false);
    },
    onDrop: (event: DragEvent) => {
      setDropTarget(false);
      const files = [...event.dataTransfer.files];
      if (files.length === 0) return;
      event.preventDefault();
      add(files);
    },
  };

  return {
    isImporting,
    add,
    dropTarget,
    project,
    /** The agent file whose dialog is open. */
    agent: agents[0],
    closeAgent: () => setAgents((before) => before.slice(1)),
  };
}

export type Imports = ReturnType<typeof useImports>;

const isAgent = (file: File) => file.name.endsWith(".zip");

function describe(name: string, result: ImportResult): string {
  const kinds = [
    { word: "run", plural: "runs", imported: result.runs, already: result.already },
    { word: "study", plural: "studies", imported: result.studies, already: result.already_studies },
    { word: "report", plural: "reports", imported: result.reports, already: result.already_reports },
  ];
  const sentences = [
    ...kinds.map(
      (kind) =>
        kind.imported.length > 0 &&
        `Imported ${counted(kind, kind.imported)} from ${name}: ${listed(kind.imported)}.`,
    ),
    ...kinds.map(
      (kind) =>
        kind.already.length > 0 &&
        `${counted(kind, kind.already)} of ${name} ${kind.already.length === 1 ? "is" : "are"} already here: ${listed(kind.already)}.`,
    ),
    ...result.notes,
  ];
  return sentences.filter(Boolean).join(" ");
}

const counted = (kind: { word: string; plural: string }, ids: readonly number[]) =>
  plural(ids.length, kind.word, kind.plural);

/** Further ids are only counted. */
const MAX_LISTED = 10;

function listed(ids: readonly number[]): string {
  const shown = ids
    .slice(0, MAX_LISTED)
    .map((id) => `#${id}`)
    .join(", ");
  return ids.length > MAX_LISTED ? `${shown} and ${ids.length - MAX_LISTED} more` : shown;
}
