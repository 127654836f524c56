import { Group, Text, Title } from "@mantine/core";
import type { RolePlace, Run } from "@/api/types";
import { capitalize, plural } from "@/ui/format";
import classes from "./run.module.css";

/** Roles of a distributed run by host, with the roles that were lost and replaced. */
export function RolesCard({ run }: { run: Run }) {
  const hosts = groupByHost(run.roles);
  return (
    <section className={classes.card} aria-label="Roles">
      <Group justify="space-between" gap="4px 16px" mb="xs">
        <Title order={2}>Roles</Title>
        <Text size="sm" c="dimmed">
          {describePlaces(run.roles, hosts.length, run.state === "running")}
        </Text>
      </Group>
      <ul className={classes.hosts}>
        {hosts.map(({ host, roles, replaced }) => (
          <li key={host}>
            <Text size="sm" fw={600} className={classes.host}>
              {host}
            </Text>
            <dl className={classes.pairs}>
              {roles.map(({ name, numbers }) => (
                <RoleNumbers key={name} name={name} numbers={numbers} />
              ))}
            </dl>
            {replaced.length > 0 && (
              <Text size="xs" c="dimmed" mt={4}>
                Replaced: {replaced.join("; ")}
              </Text>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function RoleNumbers({ name, numbers }: { name: string; numbers: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{numbers}</dd>
    </>
  );
}

type Kind = RolePlace["kind"];

/** The roles of a run on one host. */
interface HostRoles {
  host: string;
  /** Kinds with their numbers: "Bundles" and "0–9". */
  roles: { name: string; numbers: string }[];
  /** Replacements by kind and count: "bundle 3 twice". */
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

/** Group roles by host. Hosts are in natural order of their names. */
export function groupByHost(places: readonly RolePlace[]): HostRoles[] {
  return groupBy(places, ({ host }) => host)
    .sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }))
    .map(([host, here]) => ({ host, roles: describeKinds(here), replaced: describeReplaced(here) }));
}

/** Return "4 roles on 2 hosts", in the past tense if the run is not running. */
export function describePlaces(places: readonly RolePlace[], hosts: number, isRunning: boolean): string {
  const verb = isRunning ? "" : places.length === 1 ? " was last" : " were last";
  return `${plural(places.length, "role")}${verb} on ${plural(hosts, "host")}`;
}

function describeKinds(places: readonly RolePlace[]): HostRoles["roles"] {
  return KINDS.flatMap((kind) => {
    const numbers = places.filter((place) => place.kind === kind).map(({ number }) => number);
    const name = noun(kind, numbers.length);
    return numbers.length > 0 ? [{ name: capitalize(name), numbers: formatRanges(numbers) }] : [];
  });
}

function describeReplaced(places: readonly RolePlace[]): string[] {
  const lost = places.filter(({ times_lost }) => times_lost > 0);
  return groupBy(lost, ({ kind, times_lost }) => `${kind} ${times_lost}`).map(([, alike]) => {
    const [{ kind, times_lost }] = alike;
    return `${noun(kind, alike.length)} ${formatRanges(alike.map(({ number }) => number))} ${times(times_lost)}`;
  });
}

function groupBy(places: readonly RolePlace[], keyOf: (place: RolePlace) => string) {
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

/** Format numbers as ranges: "0–3, 5, 7–8". */
export function formatRanges(numbers: readonly number[]): string {
  const found: [number, number][] = [];
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const last = found.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(", ");
}
