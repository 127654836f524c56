import { Stack, Text, Title, useMatches } from "@mantine/core";
import { IconPhoto } from "@tabler/icons-react";
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
  const columns = useMatches({ base: 1, sm: 2, lg: 3 }, { getInitialValueInEffect: false });
  if (names.isError && !names.data) {
    return <QueryError error={names.error} retry={() => void names.refetch()} />;
  }
  if (!names.data) return <Text c="dimmed">Loading media…</Text>;
  if (names.data.length === 0) {
    return (
      <EmptyState icon={IconPhoto} title="No media">
        A script adds images, videos, histograms and tables with <code>run.log</code>.
      </EmptyState>
    );
  }
  return (
    <Stack gap="lg">
      {mediaSections(names.data).map(([title, members]) => (
        <section key={title} aria-label={title}>
          <Title order={2} mb="xs">
            {title}
          </Title>
          <div className={classes.columns}>
            {dealOut(members, columns).map((column, number) => (
              <div key={number} className={classes.column}>
                {column.map((series) => (
                  <MediaCard key={`${series.kind} ${series.name}`} run={run} series={series} />
                ))}
              </div>
            ))}
          </div>
        </section>
      ))}
    </Stack>
  );
}

/** Kinds in display order. Cards of one kind have similar heights. */
const KINDS: readonly MediaSeries["kind"][] = ["image", "video", "histogram", "table"];

/** Group series by the part of their names before the slash. Names without one come first. */
function mediaSections(series: readonly MediaSeries[]): [string, MediaSeries[]][] {
  const sections = new Map<string, MediaSeries[]>();
  const prefixOf = (name: string) => (name.includes("/") ? (name.split("/")[0] ?? "") : "");
  for (const each of series.toSorted((a, b) => prefixOf(a.name).localeCompare(prefixOf(b.name)))) {
    const title = prefixOf(each.name) || "Media";
    sections.set(title, [...(sections.get(title) ?? []), each]);
  }
  return [...sections].map(([title, members]) => [
    title,
    members.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind)),
  ]);
}

/** Deal items out to columns. The column of an item does not depend on heights, so that cards stay in place. */
function dealOut<T>(items: readonly T[], columns: number): T[][] {
  return Array.from({ length: columns }, (_, column) =>
    items.filter((_, index) => index % columns === column),
  );
}
