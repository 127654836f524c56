import { type DragEvent, useState } from "react";
import { type ImportResult, useImportArchive } from "@/api/archives";
import { plural } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";

/** Imports of archive files, from a button or dropped on the page. */
export function useImports() {
  const { importArchive, isImporting } = useImportArchive({
    onDone: (file, result) => notifyDone(describe(file.name, result)),
    onFailed: (file, error) => notifyProblem(`${file.name} was not imported. ${error.message}`),
  });
  const [isDropTarget, setDropTarget] = useState(false);
  const add = (files: File[]) => files.forEach((file) => importArchive(file));

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

  return { isImporting, add, dropTarget };
}

function describe(name: string, { runs, already, notes }: ImportResult): string {
  const parts = [
    runs.length > 0 && `Imported ${plural(runs.length, "run")} from ${name}: ${listed(runs)}.`,
    already.length > 0 &&
      `${plural(already.length, "run")} of ${name} ${already.length === 1 ? "is" : "are"} already here: ${listed(already)}.`,
    ...notes,
  ];
  return parts.filter(Boolean).join(" ");
}

const listed = (runs: readonly number[]) => runs.map((run) => `#${run}`).join(", ");
