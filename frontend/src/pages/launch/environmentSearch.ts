import type { Environment } from "@/api/types";

/** Return the heading of an environment. All Atari games share one. */
export const familyOf = ({ group, kind }: Pick<Environment, "group" | "kind">): string =>
  kind === "atari" ? "Atari" : group;

/**
 * Return the environments that match all words, titles that start with them first. Without words, return one
 * family.
 */
export function foundEnvironments(
  environments: readonly Environment[],
  text: string,
  family: string | null,
): Environment[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return environments.filter((each) => family === null || familyOf(each) === family);
  const begins = ({ title }: Environment) => title.toLowerCase().startsWith(words[0] ?? "");
  return environments
    .filter((each) => {
      const normalized = [each.id, each.title, each.group].join(" ").toLowerCase();
      return words.every((word) => normalized.includes(word));
    })
    .toSorted((a, b) => Number(begins(b)) - Number(begins(a)));
}
