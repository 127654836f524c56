import type { Variant } from "./schema";

/** What a method's title does not say already: what it stands for, and the paper that it is from. */
export function besideTitle({ title, description }: Pick<Variant, "title" | "description">): string {
  const [, words = description, paper = ""] = /^(.*?)(?: \(([^()]*)\))?\.?$/s.exec(description) ?? [];
  const rest = words.startsWith(title) ? words.slice(title.length).replace(/^[:,]\s*/, "") : words;
  // What is left of "Q-learning" after "Q" says nothing.
  const said = rest.startsWith("-") ? "" : rest.charAt(0).toUpperCase() + rest.slice(1);
  return [said, paper].filter(Boolean).join(". ");
}
