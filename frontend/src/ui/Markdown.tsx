import { Anchor, Code, List, Text, Title, type TitleOrder } from "@mantine/core";
import { blocksOf, type MarkdownBlock, type Piece, piecesOf } from "./markdownBlocks";

/** What users write as Markdown: paragraphs, lists, headings, bold, italic, code and links; all else stays text. */
export function Markdown({ children }: { children: string }) {
  return blocksOf(children).map((block, place) => <Block key={place} block={block} />);
}

function Block({ block: { kind, lines, level } }: { block: MarkdownBlock }) {
  if (kind === "code") return <Code block>{lines.join("\n")}</Code>;
  if (kind === "heading")
    return (
      <Title order={Math.min(level + 1, 6) as TitleOrder} my={8}>
        <Inline text={lines.join("")} />
      </Title>
    );
  if (kind === "paragraph")
    return (
      <Text size="sm" my={4}>
        <Inline text={lines.join("\n")} />
      </Text>
    );
  return (
    <List size="sm" type={kind === "numbers" ? "ordered" : "unordered"}>
      {lines.map((line, place) => (
        <List.Item key={place}>
          <Inline text={line} />
        </List.Item>
      ))}
    </List>
  );
}

function Inline({ text }: { text: string }) {
  return piecesOf(text).map((piece, place) => <Shown key={place} piece={piece} />);
}

function Shown({ piece }: { piece: Piece }) {
  if (piece.kind === "link")
    return (
      <Anchor href={piece.address} rel="noreferrer" size="sm">
        {piece.text}
      </Anchor>
    );
  if (piece.kind === "code") return <Code>{piece.text}</Code>;
  if (piece.kind === "strong") return <strong>{piece.text}</strong>;
  if (piece.kind === "em") return <em>{piece.text}</em>;
  return piece.text;
}
