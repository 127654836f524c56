/** Tags as they are kept: a comma ends a tag and is no part of it, and none stands twice. */
export function tidyTags(typed: readonly string[]): string[] {
  const tags = typed.flatMap((tag) => tag.split(",")).map((tag) => tag.trim());
  return [...new Set(tags)].filter(Boolean);
}
