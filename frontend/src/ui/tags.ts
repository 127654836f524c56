/** Return tags split at commas, without duplicates. */
export function normalizeTags(typed: readonly string[]): string[] {
  const tags = typed.flatMap((tag) => tag.split(",")).map((tag) => tag.trim());
  return [...new Set(tags)].filter(Boolean);
}
