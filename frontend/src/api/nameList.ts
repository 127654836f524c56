/** Lists of metric names in URLs, separated by commas. A name with a comma or a quote is quoted, as in CSV. */

const NAME = /,(?:"((?:[^"]|"")*)"|([^,]*))/g;

export function joinNames(names: readonly string[]): string {
  return names.map((name) => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(",");
}

export function splitNames(text: string): string[] {
  return [...`,${text}`.matchAll(NAME)]
    .map(([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain)
    .filter(Boolean);
}
