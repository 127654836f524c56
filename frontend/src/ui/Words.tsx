import { Code } from "@mantine/core";

/** Words in which a command or a field's name stands between `backticks`. */
export function Words({ children }: { children: string }) {
  return children.split("`").map((part, place) => (place % 2 === 1 ? <Code key={place}>{part}</Code> : part));
}
