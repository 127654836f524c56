import { Anchor, Code, List, Text } from "@mantine/core";
import type { ReactNode } from "react";

const INLINE = /(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*|\[[^\]]+\]\(https?:\/\/[^\s)]+\))/;

/** What users write as Markdown: paragraphs, lists, headings, bold, italic, code and links; all else stays text. */
export function Markdown({ children }: { children: string }) {
  return children
    .trim()
    .split(/\n\s*\n/)
    .map((block, place) => <Block key={place}>{block}</Block>);
}

function Block({ children }: { children: string }) {
  const lines = children.split("\n");
  if (lines.every((line) => /^\s*[-*] /.test(line)))
    return (
      <List size="sm">
        {lines.map((line, place) => (
          <List.Item key={place}>{inline(line.replace(/^\s*[-*] /, ""))}</List.Item>
        ))}
      </List>
    );
  const heading = /^#{1,6} (.*)$/.exec(children);
  return (
    <Text size="sm" my={4} fw={heading ? 600 : undefined}>
      {inline(heading?.[1] ?? children)}
    </Text>
  );
}

function inline(text: string): ReactNode[] {
  return text.split(INLINE).map((part, place) => {
    if (!INLINE.test(part)) return part;
    if (part.startsWith("`")) return <Code key={place}>{part.slice(1, -1)}</Code>;
    if (part.startsWith("**")) return <strong key={place}>{part.slice(2, -2)}</strong>;
    if (part.startsWith("*")) return <em key={place}>{part.slice(1, -1)}</em>;
    const [words = "", address = ""] = part.slice(1, -1).split("](");
    return (
      <Anchor key={place} href={address} rel="noreferrer" size="sm">
        {words}
      </Anchor>
    );
  });
}
