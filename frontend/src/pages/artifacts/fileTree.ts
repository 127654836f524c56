import type { ArtifactEntry } from "@/api/artifacts";

export interface Folder {
  name: string;
  files: number;
  bytes: number;
}

export interface Listing {
  folders: Folder[];
  entries: ArtifactEntry[];
}

/** Return the folders and files directly in a folder of a version. The folder "" is the whole version. */
export function listFolder(entries: readonly ArtifactEntry[], folder: string): Listing {
  const prefix = folder ? `${folder}/` : "";
  const folders = new Map<string, Folder>();
  const found: ArtifactEntry[] = [];
  for (const entry of entries) {
    if (!entry.path.startsWith(prefix)) continue;
    const [name = "", ...deeper] = entry.path.slice(prefix.length).split("/");
    if (deeper.length === 0) {
      found.push(entry);
      continue;
    }
    const before = folders.get(name) ?? { name, files: 0, bytes: 0 };
    folders.set(name, { name, files: before.files + 1, bytes: before.bytes + entry.bytes });
  }
  return { folders: [...folders.values()], entries: found };
}

export type PreviewKind = "picture" | "video" | "table" | "json" | "text";

const PREVIEWS: Record<string, PreviewKind> = {
  png: "picture",
  jpg: "picture",
  jpeg: "picture",
  gif: "picture",
  webp: "picture",
  mp4: "video",
  webm: "video",
  csv: "table",
  tsv: "table",
  json: "json",
  ...Object.fromEntries(
    "cfg conf html ini ipynb jsonl log md py sh svg toml txt xml yaml yml"
      .split(" ")
      .map((name) => [name, "text"]),
  ),
};

/** Return how a file is shown, by its name, or null if it is not. */
export function previewKind(path: string): PreviewKind | null {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  return dot < 0 ? null : (PREVIEWS[name.slice(dot + 1)] ?? null);
}

/** Return the rows of a CSV or TSV text, at most as many as given. A cut last row is left out. */
export function parseTable(
  text: string,
  path: string,
  { isCut, most }: { isCut: boolean; most: number },
): string[][] {
  const separator = path.toLowerCase().endsWith(".tsv") ? "\t" : ",";
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let place = 0; place < text.length && rows.length < most; place += 1) {
    const letter = text[place] ?? "";
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text[place + 1] === '"') {
        cell += '"';
        place += 1;
      } else isQuoted = false;
    } else if (letter === '"' && cell === "") isQuoted = true;
    else if (letter === separator) {
      row.push(cell);
      cell = "";
    } else if (letter === "\n") {
      rows.push([...row, cell.replace(/\r$/, "")]);
      row = [];
      cell = "";
    } else cell += letter;
  }
  if (!isCut && rows.length < most && (cell !== "" || row.length > 0)) rows.push([...row, cell]);
  return rows;
}
