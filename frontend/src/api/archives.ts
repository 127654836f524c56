import { useIsMutating, useMutation, useQueryClient } from "@tanstack/react-query";
import { address } from "./client";
import { OWN_ERRORS } from "./mutationState";
import { ForeignResponseError, problemFrom, UnreachableError } from "./problem";
import { runKeys } from "./runs";
import type { components } from "./schema";

export type ImportResult = components["schemas"]["ImportResult"];

/** Return the address of an archive file with these runs. */
export function archiveAddress(ids: readonly number[]): string {
  return address("/archives", { runs: ids.join(",") });
}

/** Send an archive file. It may take minutes, so there is no timeout. */
async function importArchive(file: File): Promise<ImportResult> {
  const headers = { "Content-Type": "application/octet-stream" };
  let response: Response;
  try {
    response = await fetch(address("/archives"), { method: "POST", headers, body: file });
  } catch (error) {
    throw new UnreachableError(error, "The upload was interrupted. Import the file again.");
  }
  const content: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemFrom(response.status, content);
  if (content === undefined) throw new ForeignResponseError();
  return content as ImportResult;
}

const IMPORTS = ["import-archive"];

interface ImportEvents {
  onDone: (file: File, result: ImportResult) => void;
  onFailed: (file: File, error: Error) => void;
}

/** Import archive files one after the other, and read the lists of runs again. */
export function useImportArchive({ onDone, onFailed }: ImportEvents) {
  const client = useQueryClient();
  const { mutate } = useMutation({
    mutationKey: IMPORTS,
    // Mutations of one scope run in sequence.
    scope: { id: "import-archive" },
    meta: OWN_ERRORS,
    mutationFn: importArchive,
    onSuccess: (result, file) => {
      onDone(file, result);
      return Promise.all(
        [runKeys.lists, runKeys.allFacets].map((queryKey) => client.invalidateQueries({ queryKey })),
      );
    },
    onError: (error, file) => onFailed(file, error),
  });
  return { importArchive: mutate, isImporting: useIsMutating({ mutationKey: IMPORTS }) > 0 };
}
