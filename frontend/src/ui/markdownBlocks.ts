/** What users write as Markdown, taken apart by the rules of backend/reports/markdown.py; all else stays text. */

export type Kind = "code" | "heading" | "bullets" | "numbers" | "paragraph";

export interface MarkdownBlock {
  kind: Kind;
  /** Without the marks of headings and lists. */
  lines: string[];
  /** Of a heading, from 1 to 6. */
  level: number;
}

export type Piece = { kind: "text" | "code" | "strong" | "em"; text: string } | Link;

interface Link {
  kind: "link";
  text: string;
  address: string;
}

// What stands between brackets holds none, so that a long text of brackets takes no longer than another.
const INLINE = /(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*|\[[^\][]+\]\(https?:\/\/[^\s)]+\))/;
const HEADING = /^(#{1,6}) (.*)$/;
const BULLET = /^\s*[-*] /;
const NUMBERED = /^\s*\d{1,9}[.)] /;
const FENCE = "```";

/** Headings, lists, code and paragraphs, in their order. */
export function blocksOf(markdown: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  // Whether the last block takes more lines.
  let open = false;
  for (const line of markdown.split(/\r\n|\r|\n/)) {
    const last: MarkdownBlock | undefined = open ? blocks.at(-1) : undefined;
    if (line.startsWith(FENCE)) {
      open = last?.kind !== "code";
      if (open) blocks.push({ kind: "code", lines: [], level: 0 });
    } else if (last?.kind === "code") {
      last.lines.push(line);
    } else if (line.trim() === "") {
      open = false;
    } else {
      const kind = kindOf(line);
      const words = stripped(line, kind);
      open = true;
      if (last?.kind === kind && kind !== "heading") last.lines.push(words);
      else blocks.push({ kind, lines: [words], level: HEADING.exec(line)?.[1]?.length ?? 0 });
    }
  }
  return blocks;
}

function kindOf(line: string): Kind {
  if (HEADING.test(line)) return "heading";
  if (BULLET.test(line)) return "bullets";
  return NUMBERED.test(line) ? "numbers" : "paragraph";
}

function stripped(line: string, kind: Kind): string {
  if (kind === "heading") return HEADING.exec(line)?.[2] ?? line;
  return kind === "bullets"
    ? line.replace(BULLET, "")
    : kind === "numbers"
      ? line.replace(NUMBERED, "")
      : line;
}

/** Bold, italic, code and links in a text; only addresses of http and https are links. */
export function piecesOf(text: string): Piece[] {
  return text
    .split(INLINE)
    .filter((part) => part !== "")
    .map(pieceOf);
}

function pieceOf(part: string): Piece {
  if (!INLINE.test(part)) return { kind: "text", text: part };
  if (part.startsWith("`")) return { kind: "code", text: part.slice(1, -1) };
  if (part.startsWith("**")) return { kind: "strong", text: part.slice(2, -2) };
  if (part.startsWith("*")) return { kind: "em", text: part.slice(1, -1) };
  const [text = "", address = ""] = part.slice(1, -1).split("](");
  return { kind: "link", text, address };
}
