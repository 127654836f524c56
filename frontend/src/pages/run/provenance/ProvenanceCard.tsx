import { Group, NativeSelect, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { provenanceQuery } from "@/api/provenance";
import type { AttemptSummary, Provenance, Run } from "@/api/types";
import { CommandLine } from "@/ui/CommandLine";
import { QueryError } from "@/ui/QueryError";
import { bytes, plural } from "@/ui/format";
import { shellCommand } from "../commands";
import pageClasses from "../run.module.css";
import { EarlierVersions } from "./EarlierVersions";
import { Facts } from "./Facts";
import { Folded } from "./Folded";
import { PackageList } from "./PackageList";
import { SourceFacts } from "./SourceFacts";

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
