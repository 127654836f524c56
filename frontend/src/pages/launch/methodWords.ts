import type { Variant } from "@/config-form/schema";

/** What a method's title does not say already: what it stands for, and the paper that it is from. */
export function besideTitle({ title, description }: Pick<Variant, "title" | "description">): string {
  const [, words = description, paper = ""] = /^(.*?)(?: \(([^()]*)\))?\.?$/s.exec(description) ?? [];
  const rest = words.startsWith(title) ? words.slice(title.length).replace(/^[:,]\s*/, "") : words;
  // What is left of "Q-learning" after "Q" says nothing.
  // The n of n-step is a letter of mathematics, and stays small.
  const said = rest.startsWith("-") ? "" : rest.replace(/^[a-z](?!-)/, (letter) => letter.toUpperCase());
  return [said, paper].filter(Boolean).join(". ");
}
