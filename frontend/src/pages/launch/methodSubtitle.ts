import type { Variant } from "@/config-form/schema";

/** Return what a method's title lacks: its full name and its paper. */
export function subtitleOf({ title, description }: Pick<Variant, "title" | "description">): string {
  const [, words = description, paper = ""] = /^(.*?)(?: \(([^()]*)\))?\.?$/s.exec(description) ?? [];
  const rest = words.startsWith(title) ? words.slice(title.length).replace(/^[:,]\s*/, "") : words;
  // The rest of "Q-learning" after "Q" is meaningless.
  // The n of n-step is a mathematical symbol and stays lowercase.
  const said = rest.startsWith("-") ? "" : rest.replace(/^[a-z](?!-)/, (letter) => letter.toUpperCase());
  return [said, paper].filter(Boolean).join(". ");
}
