import { type DragEvent, useState } from "react";
import { type ImportResult, useImportArchive } from "@/api/archives";
import { plural } from "@/ui/format";
import { notifyDone } from "@/ui/notify";

/** Imports of archive files one after the other, from a button or dropped on the page. */
export function useImports() {
  const { mutateAsync } = useImportArchive();
  const [waiting, setWaiting] = useState(0);

  function add(files: File[]) {
    setWaiting((count) => count + files.length);
    void files.reduce(async (before, file) => {
      await before;
      await mutateAsync(file).then(
        (result) => notifyDone(describe(file.name, result)),
        // The page shows errors of all mutations.
        () => undefined,
      );
      setWaiting((count) => count - 1);
    }, Promise.resolve());
  }

  const dropTarget = {
    onDragOver: (event: DragEvent) => {
      // Otherwise the browser would open the file.
      if (event.dataTransfer.types.includes("Files")) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      const files = [...event.dataTransfer.files];
      if (files.length === 0) return;
      event.preventDefault();
      add(files);
    },
  };

  return { isImporting: waiting > 0, add, dropTarget };
}

function describe(name: string, { runs, already, notes }: ImportResult): string {
  const parts = [
    runs.length > 0 && `Imported ${plural(runs.length, "run")} from ${name}: ${runs.join(", ")}.`,
    already.length > 0 && `${plural(already.length, "run")} of ${name} already here: ${already.join(", ")}.`,
    ...notes,
  ];
  return parts.filter(Boolean).join(" ");
}
