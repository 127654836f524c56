import { Code } from "@mantine/core";

/** Text with commands and field names in `backticks`. */
export function TextWithCode({ children }: { children: string }) {
  return children.split("`").map((part, place) => (place % 2 === 1 ? <Code key={place}>{part}</Code> : part));
}
