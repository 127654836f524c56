import { Code, Group, NativeSelect, Text, TextInput, Title } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { provenanceQuery } from "@/api/provenance";
import type { AttemptSummary, Provenance, Run } from "@/api/types";
import { CommandLine } from "@/ui/CommandLine";
import { CopyText } from "@/ui/CopyText";
import { DataTable } from "@/ui/DataTable";
import { bytes, plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { shellCommand } from "../commands";
import pageClasses from "../run.module.css";
import classes from "./provenance.module.css";

/** Code, packages, host and command that an attempt of a run was made with. */
export function ProvenanceCard({ run }: { run: Run }) {
  const [attempt, setAttempt] = useState<number | null>(null);
  const query = useQuery(provenanceQuery(run.id, attempt));
  const { data } = query;
  if (query.isError && !data) {
    return <QueryError error={query.error} retry={() => void query.refetch()} />;
  }
  if (!data) return <Text c="dimmed">Loading provenance…</Text>;
  const shown = data.attempts.find((each) => each.attempt === data.attempt);
  if (!data.provenance || !shown) return <EarlierVersions run={run} />;
  return (
    <section className={pageClasses.card} aria-label="Provenance">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Provenance</Title>
        <AttemptSelect attempts={data.attempts} shown={shown} onChange={setAttempt} />
      </Group>
      {shown.changes.length > 0 && (
        <Text size="sm" c="dimmed" mb="xs">
          Changed since the attempt before: {listed(shown.changes)}.
        </Text>
      )}
      <Details provenance={data.provenance} />
    </section>
  );
}

interface AttemptSelectProps {
  attempts: readonly AttemptSummary[];
  shown: AttemptSummary;
  onChange: (attempt: number) => void;
}

/** Choice of the attempt, if the attempts differ. */
function AttemptSelect({ attempts, shown, onChange }: AttemptSelectProps) {
  const recorded = attempts.filter((each) => each.recorded);
  if (!recorded.some(({ changes }) => changes.length > 0)) return null;
  return (
    <NativeSelect
      size="xs"
      aria-label="Attempt"
      value={shown.attempt}
      onChange={(event) => onChange(Number(event.currentTarget.value))}
      data={recorded.map((each) => ({
        value: String(each.attempt),
        label: each.changes.length > 0 ? `Attempt ${each.attempt} (changed)` : `Attempt ${each.attempt}`,
      }))}
    />
  );
}

function Details({ provenance }: { provenance: Provenance }) {
  const { cores, gpus, driver, cuda, environment } = provenance;
  const variables = Object.entries(environment);
  return (
    <>
      <SourceFacts provenance={provenance} />
      <Title order={3} size="sm" mt="md" mb={4}>
        Host
      </Title>
      <Facts
        facts={[
          ["Name", provenance.host],
          ["System", provenance.os],
          ["Processor", `${provenance.cpu}, ${plural(cores, "core")}`],
          ["Memory", bytes(provenance.memory_bytes)],
          ["GPU", gpus.length > 0 && gpus.map((gpu) => `${gpu.name}, ${bytes(gpu.memory_bytes)}`).join("; ")],
          ["Driver", driver && `${driver}${cuda ? `, CUDA ${cuda}` : ""}`],
        ]}
      />
      <Title order={3} size="sm" mt="md" mb={4}>
        Command
      </Title>
      <CommandLine command={shellCommand(provenance.command)} />
      {variables.length > 0 && (
        <Folded title={plural(variables.length, "environment variable")}>
          <Facts mono facts={variables} />
        </Folded>
      )}
      <PackageList packages={provenance.packages} />
    </>
  );
}

const MAX_LISTED = 6;

/** Join names, and count those that are too many to list. */
function listed(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  if (more <= 1) return names.join(", ");
  return `${names.slice(0, MAX_LISTED).join(", ")} and ${more} more`;
}

/** Commit, branch and uncommitted changes of Arcadia's code, or its build. */
function SourceFacts({ provenance }: { provenance: Provenance }) {
  const { checkout, problem, diff } = provenance;
  return (
    <>
      <Facts
        facts={[
          ["Arcadia", provenance.build],
          ["Commit", checkout?.commit],
          ["Branch", checkout && (checkout.branch ?? "none (detached)")],
          ["Changes", checkout && (checkout.dirty ? "uncommitted changes" : "none since the commit")],
          ["Python", provenance.python],
        ]}
      />
      {problem && (
        <Text size="sm" c="dimmed" mt={4}>
          {problem}
        </Text>
      )}
      {diff && (
        <Folded title={`Uncommitted changes, ${plural(countChanges(diff), "line")}`}>
          <Code block tabIndex={0} className={classes.diff}>
            {diff}
          </Code>
          {checkout?.diff_cut && (
            <Text size="xs" c="dimmed" mt={4}>
              The diff is longer. Only its first megabyte was recorded.
            </Text>
          )}
          <div className={classes.copy}>
            <CopyText label="Copy diff" text={diff} />
          </div>
        </Folded>
      )}
      {checkout && checkout.untracked.length > 0 && (
        <Folded title={plural(checkout.untracked.length, "untracked file")}>
          <ul className={classes.files}>
            {checkout.untracked.map((path) => (
              <li key={path}>{path}</li>
            ))}
          </ul>
        </Folded>
      )}
    </>
  );
}

/** Count the added and removed lines of a diff. */
function countChanges(diff: string): number {
  return diff.split("\n").filter((line) => /^[+-](?!\+\+ |-- )/.test(line)).length;
}

/** The installed Python packages, with a search. */
function PackageList({ packages }: { packages: Record<string, string> }) {
  const [search, setSearch] = useState("");
  const all = Object.entries(packages).toSorted(([one], [other]) => one.localeCompare(other));
  const wanted = search.trim().toLowerCase();
  const found = all.filter(([name]) => name.toLowerCase().includes(wanted));
  return (
    <Folded title={plural(all.length, "package")}>
      <TextInput
        type="search"
        size="xs"
        my="xs"
        maw={280}
        leftSection={<IconSearch size={14} aria-hidden />}
        placeholder="Search packages"
        aria-label="Search packages"
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      {found.length === 0 ? (
        <Text size="sm" c="dimmed" role="status">
          No package has “{search.trim()}” in its name.
        </Text>
      ) : (
        <div className={classes.packages} tabIndex={0} role="group" aria-label="Packages">
          <DataTable
            verticalSpacing={2}
            rows={found}
            rowKey={([name]) => name}
            columns={[
              { isRowHeader: true, cell: ([name]) => name },
              { numeric: true, cell: ([, version]) => version },
            ]}
          />
        </div>
      )}
    </Folded>
  );
}

/** Provenance from earlier versions of Arcadia: the worker's command and a few versions. */
function EarlierVersions({ run }: { run: Run }) {
  if (!run.versions && !run.command) return null;
  return (
    <section className={pageClasses.card} aria-label="Provenance">
      <Title order={2} mb="xs">
        Provenance
      </Title>
      <Facts facts={Object.entries(run.versions ?? {})} />
      {run.command && (
        <>
          <Text size="xs" c="dimmed" mt="xs" mb={4}>
            Command
          </Text>
          <CommandLine command={shellCommand(run.command)} />
        </>
      )}
    </section>
  );
}

/** A part that opens on a click. */
function Folded({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className={classes.folded}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

interface FactsProps {
  /** Names with their values. Those without a value are left out. */
  facts: readonly (readonly [string, string | false | null | undefined])[];
  mono?: boolean;
}

/** Names and values in two columns, or below each other on a phone. */
function Facts({ facts, mono = false }: FactsProps) {
  return (
    <dl className={classes.facts} data-mono={mono || undefined}>
      {facts.map(([name, value]) =>
        value ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}
