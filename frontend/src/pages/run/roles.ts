import type { RolePlace } from "@/api/types";
import { plural } from "@/ui/format";

type Kind = RolePlace["kind"];

/** What one host does for a run. */
export interface RoleHost {
  host: string;
  /** By kind, such as "Bundles" and "0–9". */
  roles: { name: string; numbers: string }[];
  /** Such as "bundle 3 twice", one for each kind and number of times. */
  replaced: string[];
}

const KINDS: readonly Kind[] = ["shard", "replay", "bundle", "actor", "learner"];
const NOUNS: Record<Kind, string> = {
  shard: "parameter shard",
  replay: "replay shard",
  bundle: "bundle",
  actor: "actor",
  learner: "learner",
};

/** Roles by host, the hosts in the order of their names and numbers. */
export function hostsOf(places: readonly RolePlace[]): RoleHost[] {
  return grouped(places, ({ host }) => host)
    .sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }))
    .map(([host, here]) => ({ host, roles: kindsOf(here), replaced: replacedOf(here) }));
}

/** "4 roles on 2 hosts"; of a run that works no more, where they were at last. */
export function placesInWords(places: readonly RolePlace[], hosts: number, live: boolean): string {
  const verb = live ? "" : places.length === 1 ? " was last" : " were last";
  return `${plural(places.length, "role")}${verb} on ${plural(hosts, "host")}`;
}

function kindsOf(places: readonly RolePlace[]): RoleHost["roles"] {
  return KINDS.flatMap((kind) => {
    const numbers = places.filter((place) => place.kind === kind).map(({ number }) => number);
    const name = noun(kind, numbers.length);
    return numbers.length > 0
      ? [{ name: name.charAt(0).toUpperCase() + name.slice(1), numbers: ranges(numbers) }]
      : [];
  });
}

function replacedOf(places: readonly RolePlace[]): string[] {
  const lost = places.filter(({ times_lost }) => times_lost > 0);
  return grouped(lost, ({ kind, times_lost }) => `${kind} ${times_lost}`).map(([, alike]) => {
    const [{ kind, times_lost }] = alike;
    return `${noun(kind, alike.length)} ${ranges(alike.map(({ number }) => number))} ${times(times_lost)}`;
  });
}

function grouped(places: readonly RolePlace[], keyOf: (place: RolePlace) => string) {
  const groups = new Map<string, [RolePlace, ...RolePlace[]]>();
  for (const place of places) {
    const group = groups.get(keyOf(place));
    if (group) group.push(place);
    else groups.set(keyOf(place), [place]);
  }
  return [...groups];
}

const noun = (kind: Kind, count: number): string => NOUNS[kind] + (count === 1 ? "" : "s");

function times(count: number): string {
  return ["never", "once", "twice"][count] ?? `${count} times`;
}

/** Numbers in short: 0–3, 5, 7–8. */
export function ranges(numbers: readonly number[]): string {
  const found: [number, number][] = [];
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const last = found.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(", ");
}
