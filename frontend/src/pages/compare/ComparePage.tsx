import { Button, Stack, Title } from "@mantine/core";
import { IconChartLine } from "@tabler/icons-react";
import { type Query, useIsFetching, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { comparisonQuery, groupFields, metricNames } from "@/api/comparisons";
import { isNotFound } from "@/api/problem";
import { readView } from "@/charts/curveView";
import { usePageTitle } from "@/ui/usePageTitle";
import { plural } from "@/ui/format";
import { EmptyState } from "@/ui/EmptyState";
import { QueryError } from "@/ui/QueryError";
import classes from "./compare.module.css";
import {
  haveEpisodes,
  ofOneGame,
  readMetrics,
  readRuns,
  readSummary,
  writeMetrics,
  writeRuns,
  writeSummary,
} from "./comparison";
import { CompareCurves } from "./CompareCurves";
import { CriticCard } from "./CriticCard";
import { Differences, ProvenanceDifferences } from "./Differences";
import { EfficiencyCard } from "./EfficiencyCard";
import { MissingRuns } from "./MissingRuns";
import { RunPicker } from "./RunPicker";
import { StudyLine } from "./StudyLine";
import { SummaryTable } from "./SummaryTable";
import { ThresholdsCard } from "./ThresholdsCard";
import { VerdictCard } from "./VerdictCard";

/** /compare?runs=1,2,3&metric=episode/return: the URL contains the whole comparison. &study=4 names their study. */
export default function ComparePage() {
  const [search, setSearch] = useSearchParams();
  const runs = readRuns(search);
  const study = Number(search.get("study")) || 0;
  const { by, center, grouped } = readView(search);
  usePageTitle(titleOf(runs));
  const comparison = useQuery(comparisonQuery(runs, by, grouped || by.length > 0));
  const names = comparison.data ? metricNames(comparison.data) : [];
  const metrics = readMetrics(search, names);
  const showsRest = useFirstCurves(comparison.data !== undefined);
  // Data of a purged run may still be cached.
  const problem = isNotFound(comparison.error) || !comparison.data ? comparison.error : null;
  const leaveOut = (out: readonly number[]) => setRuns(runs.filter((run) => !out.includes(run)));
  const setRuns = (next: number[]) => setSearch((current) => writeRuns(current, next));

  return (
    <Stack gap="lg" className={classes.sheet}>
      <Title order={1}>Compare runs</Title>
      {study > 0 && <StudyLine id={study} />}
      <RunPicker runs={runs} known={comparison.data?.runs ?? []} onChange={setRuns} />
      {runs.length === 0 && (
        <EmptyState icon={IconChartLine} title="Choose runs to compare">
          <Stack align="center" gap="md">
            <span>
              Add runs above, or select them in the run list and press “Compare”. This page's URL contains
              your choice, so you can bookmark or share it.
            </span>
            <Button component={Link} to="/" variant="default">
              Open run list
            </Button>
          </Stack>
        </EmptyState>
      )}
      {runs.length > 0 && problem && <QueryError error={problem} retry={() => void comparison.refetch()} />}
      {runs.length > 0 && !problem && (
        <>
          <MissingRuns missing={comparison.data?.missing ?? []} onRemove={leaveOut} />
          <CompareCurves
            runs={runs}
            metrics={metrics}
            known={comparison.data?.runs ?? []}
            // Show the controls while their choices load, so that the chart does not jump.
            groups={comparison.data ? groupFields(comparison.data) : runs.length > 1 ? [] : null}
            names={names}
            onMetrics={(next) => setSearch((current) => writeMetrics(current, next), { replace: true })}
          />
          {comparison.data && showsRest && (
            <>
              {runs.length > 1 && haveEpisodes(comparison.data) && (
                <>
                  <VerdictCard runs={runs} by={by} known={comparison.data.runs} onRuns={setRuns} />
                  <ThresholdsCard runs={runs} by={by} oneGame={ofOneGame(comparison.data)} />
                  <EfficiencyCard runs={runs} by={by} center={center} />
                </>
              )}
              <CriticCard runs={runs} />
              <SummaryTable
                comparison={comparison.data}
                metric={readSummary(search, names)}
                onMetric={(next) => setSearch((current) => writeSummary(current, next), { replace: true })}
              />
              <Differences comparison={comparison.data} />
              <ProvenanceDifferences comparison={comparison.data} />
            </>
          )}
        </>
      )}
    </Stack>
  );
}

/** Return true once the first curves are loaded. Other requests for many runs would delay them by seconds. */
function useFirstCurves(areKnown: boolean): boolean {
  const isCurves = (query: Pick<Query, "meta">) => String(query.meta?.["figure"]).includes("/figures/curves?");
  const loading = useIsFetching({ predicate: isCurves });
  const [wereLoaded, setWereLoaded] = useState(false);
  if (areKnown && loading === 0 && !wereLoaded) setWereLoaded(true);
  return wereLoaded;
}

/** More runs than this are counted in the title of the page. */
const MAX_NAMED = 6;

function titleOf(runs: readonly number[]): string {
  if (runs.length > MAX_NAMED) return `Compare ${plural(runs.length, "run")}`;
  return runs.length > 0 ? `Compare ${runs.join(", ")}` : "Compare runs";
}
