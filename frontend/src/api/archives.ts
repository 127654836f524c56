import { useIsMutating } from "@tanstack/react-query";
import { address, call } from "./client";
import { useApiMutation } from "./requests";
import { projectKeys } from "./projects";
import { reportKeys } from "./reports";
import { writeRunNumbers } from "./runNumbers";
import { type FailuresQuery, runKeys } from "./runs";
import type { components } from "./schema";
import { studyKeys } from "./studies";
import type { QueryOf } from "./types";
import { upload } from "./upload";

export type ImportResult = components["schemas"]["ImportResult"];

/** Runs in one archive file; the server accepts no more. */
export const MAX_ARCHIVED_RUNS = 1000;

/** Files that an archive includes. "best" leaves out the checkpoints except the best and the newest. */
export type FilesChoice = NonNullable<QueryOf<"/api/v1/archives">["files"]>;

interface ExportedItems {
  runs?: readonly number[];
  studies?: readonly number[];
  reports?: readonly number[];
}

/** Return the address of an archive file. A study brings its runs, and a report the runs that it shows. */
export function archiveAddress(items: ExportedItems, files: FilesChoice = "all"): string {
  const query = Object.entries(items).map(
    ([kind, ids]: [string, number[]]) => [kind, writeRunNumbers(ids)] as const,
  );
  return address("/archives", { ...Object.fromEntries(query), ...(files !== "all" && { files }) });
}

/** Return the address of a table of all runs that match a filter. */
export function runTableAddress(
  format: "csv" | "jsonl",
  query: FailuresQuery & { exclude: readonly number[] },
): string {
  return address(`/export/runs.${format}`, query);
}

/** An archive file, and the project of everything in it. Without one, it goes to the projects that the file names. */
interface Import {
  file: File;
  project: string | null;
}

/** Keys of the lists that an import may add to. */
export const IMPORTED_LISTS = [
  runKeys.lists,
  runKeys.allFacets,
  studyKeys.list,
  reportKeys.list,
  projectKeys.all,
];

const IMPORTS = ["import-archive"];

interface ImportEvents {
  onDone: (file: File, result: ImportResult) => void;
  onFailed: (file: File, error: Error) => void;
}

/** Import archive files one after the other, and read the lists of runs again. */
export function useImportArchive({ onDone, onFailed }: ImportEvents) {
  const { mutate } = useApiMutation(
    ({ file, project }: Import) => upload<ImportResult>("/archives", project ? { project } : {}, file),
    {
      mutationKey: IMPORTS,
      // Mutations of one scope run in sequence.
      scope: { id: "import-archive" },
      ownErrors: true,
      onDone: (_, result, { file }) => onDone(file, result),
      onError: (error, { file }) => onFailed(file, error),
      refetch: IMPORTED_LISTS,
    },
  );
  return { importArchive: mutate, isImporting: useIsMutating({ mutationKey: IMPORTS }) > 0 };
}

/** Import the example runs and their report. `onOpened` is called even if the user has left the page. */
export function useOpenExamples(onOpened: (result: ImportResult) => void) {
  return useApiMutation(
    (project: string | null) =>
      call("post", "/api/v1/examples", { params: { query: project ? { project } : {} } }),
    { ownErrors: true, onDone: (_, result) => onOpened(result), refetch: IMPORTED_LISTS },
  );
}
