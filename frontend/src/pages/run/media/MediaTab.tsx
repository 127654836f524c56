import { Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { mediaNamesQuery } from "@/api/media";
import type { MediaSeries, Run } from "@/api/types";
import { EmptyState } from "@/ui/EmptyState";
import { QueryError } from "@/ui/QueryError";
import { MediaCard } from "./MediaCard";
import classes from "./media.module.css";

/** Images, videos, histograms and tables that a run logged, in sections by the part of the name before its slash. */
export function MediaTab({ run }: { run: Run }) {
  const names = useQuery(mediaNamesQuery(run.id));
  if (names.isError && !names.data) {
    return <QueryError error={names.error} retry={() => void names.refetch()} />;
  }
  if (!names.data) return <Text c="dimmed">Loading media…</Text>;
  if (names.data.length === 0) {
    return (
      <EmptyState title="No media">
        A script adds images, videos, histograms and tables with <code>run.log</code>.
      </EmptyState>
    );
  }
  return (
    <Stack gap="lg">
      {sectionsOf(names.data).map(([title, members]) => (
        <section key={title} aria-label={title}>
          <Title order={2} mb="xs">
            {title}
          </Title>
          <div className={classes.grid}>
            {members.map((series) => (
              <MediaCard key={`${series.kind} ${series.name}`} run={run} series={series} />
            ))}
          </div>
        </section>
      ))}
    </Stack>
  );
}

/** Group series by the part of their names before the slash. Names without one come first. */
export function sectionsOf(series: readonly MediaSeries[]): [string, MediaSeries[]][] {
  const sections = new Map<string, MediaSeries[]>();
  const prefixOf = (name: string) => (name.includes("/") ? (name.split("/")[0] ?? "") : "");
  for (const each of series.toSorted((a, b) => prefixOf(a.name).localeCompare(prefixOf(b.name)))) {
    const title = prefixOf(each.name) || "Media";
    sections.set(title, [...(sections.get(title) ?? []), each]);
  }
  return [...sections];
}
