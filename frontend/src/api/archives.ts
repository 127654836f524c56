import { useMutation, useQueryClient } from "@tanstack/react-query";
import { address } from "./client";
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
    throw new UnreachableError(error, `The import of ${file.name} was interrupted. Import it again.`);
  }
  const content: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemFrom(response.status, content);
  if (content === undefined) throw new ForeignResponseError();
  return content as ImportResult;
}

/** Import archive files, and read the lists of runs again. */
export function useImportArchive() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: importArchive,
    onSuccess: () =>
      Promise.all(
        [runKeys.lists, runKeys.allFacets].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
  });
}
