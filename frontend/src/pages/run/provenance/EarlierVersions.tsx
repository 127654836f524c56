import { Text, Title } from "@mantine/core";
import type { Run } from "@/api/types";
import { CommandLine } from "@/ui/CommandLine";
import { shellCommand } from "../commands";
import pageClasses from "../run.module.css";
import { Facts } from "./Facts";

/** Provenance from earlier versions of Arcadia: the worker's command and a few versions. */
export function EarlierVersions({ run }: { run: Run }) {
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
