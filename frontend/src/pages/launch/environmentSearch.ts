import type { Environment } from "@/api/types";

/** Return the title of an environment's family. */
export const familyOf = ({ family }: Pick<Environment, "family">): string => family.title;

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
