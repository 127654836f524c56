import { Alert, Anchor, Button, CloseButton, Group, Stack, Text, Title } from "@mantine/core";
import { IconChartLine } from "@tabler/icons-react";
<<<<<<< HEAD
import { type Query, useIsFetching, useQuery } from "@tanstack/react-query";
import { useState } from "react";
=======
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
>>>>>>> b1685604 (Join frontend modules with their only importer, and send origins and summaries as facts)
import { Link, useSearchParams } from "react-router";
import { calibrationsFigureQuery, type CriticMeasure } from "@/api/calibrations";
import {
  comparisonQuery,
  efficiencyFigureQuery,
  groupFields,
  labelWithoutNumber,
  MAX_RUNS,
  metricNames,
} from "@/api/comparisons";
import { isNotFound } from "@/api/problem";
import { runsInFileName } from "@/api/runNumbers";
import { studyQuery } from "@/api/studies";
import type { ComparedRun, Figure } from "@/api/types";
import { CriticChart, MeasureChoice } from "@/charts/CriticChart";
import type { Cell } from "@/charts/csv";
import { type Center, readView } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";
import { StopStudyButton } from "@/run-actions/StopStudyButton";
import { EmptyState } from "@/ui/EmptyState";
import { plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { RunName } from "@/ui/RunName";
import { RunSearch } from "@/ui/RunSearch";
import { usePageTitle } from "@/ui/usePageTitle";
import { CompareCurves } from "./CompareCurves";
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
import { Differences, ProvenanceDifferences } from "./Differences";
import { RunStroke } from "./RunStroke";
import { SummaryTable } from "./SummaryTable";
import { ThresholdsCard } from "./ThresholdsCard";
import { VerdictCard } from "./VerdictCard";
import classes from "./compare.module.css";

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

/** The study that launched the compared runs: its link, its progress, and a button that stops it. */
function StudyLine({ id }: { id: number }) {
  const { data: study } = useQuery(studyQuery(id));
  const total = study ? Object.values(study.runs).reduce((sum, count) => sum + count, 0) : 0;
  return (
    // The height with the button, so that the page does not jump when the study is loaded.
    <Group component="section" aria-label="Study" gap="xs" mih={30}>
      <Anchor component={Link} to={`/studies/${id}`} size="sm">
        {study?.name ?? `Study ${id}`}
      </Anchor>
      {study && (
        <>
          <Text size="sm" role="status">
            {study.runs.finished} of {plural(total, "run")} finished
            {study.runs.failed > 0 && `, ${study.runs.failed} failed`}
            {study.state !== "running" && study.state !== "finished" && `, ${study.state}`}
          </Text>
          <StopStudyButton study={study} />
        </>
      )}
    </Group>
  );
}

interface MissingRunsProps {
  missing: readonly number[];
  onRemove: (runs: readonly number[]) => void;
}

/** Note that names the runs in the URL that do not exist. The page compares the others. */
function MissingRuns({ missing, onRemove }: MissingRunsProps) {
  if (missing.length === 0) return null;
  const one = missing.length === 1;
  return (
    <Alert
      color="yellow"
      variant="light"
      title={one ? `Run ${missing[0]} does not exist` : `Runs ${missing.join(", ")} do not exist`}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{`${one ? "It was" : "They were"} deleted, or the URL is wrong. The other runs are still compared.`}</Text>
        <Button size="xs" variant="default" onClick={() => onRemove(missing)}>
          Remove from comparison
        </Button>
      </Stack>
    </Alert>
  );
}

/** More runs than this are first shown as one line. On a phone, all are. */
const MAX_CHIPS = 8;

interface RunPickerProps {
  runs: readonly number[];
  known: readonly ComparedRun[];
  onChange: (runs: number[]) => void;
}

/** Compared runs with remove buttons, and a search for more. Many runs are one line until they are requested. */
function RunPicker({ runs, known, onChange }: RunPickerProps) {
  const [showsAll, setShowsAll] = useState(false);
  const list = useId();
  const isMany = runs.length > MAX_CHIPS;
  return (
    <Group gap={8} role="group" aria-label="Compared runs">
      {runs.length > 0 && (
        <Group gap="xs" className={classes.count} hiddenFrom={isMany ? undefined : "sm"}>
          <Text size="sm">{describeRuns(runs, known)}</Text>
          <Button
            size="compact-sm"
            variant="subtle"
            aria-expanded={showsAll}
            aria-controls={list}
            onClick={() => setShowsAll(!showsAll)}
          >
            {showsAll ? "Hide runs" : "Show all"}
          </Button>
        </Group>
      )}
      {(!isMany || showsAll) && (
        <div
          id={list}
          className={classes.chips}
          data-many={isMany || undefined}
          data-open={showsAll || undefined}
        >
          {runs.map((id) => {
            const run = known.find((candidate) => candidate.id === id);
            return (
              <span key={id} className={classes.chip}>
                {run && <RunStroke run={run} />}
                <Link to={`/runs/${id}`} className={classes.chipName}>
                  {run ? <RunName name={labelWithoutNumber(run)} /> : `Run ${id}`}
                </Link>
                {run && <span className={classes.number}>#{id}</span>}
                <CloseButton
                  size={24}
                  iconSize={12}
                  className={classes.out}
                  aria-label={`Remove run ${id} from the comparison`}
                  onClick={() => onChange(runs.filter((other) => other !== id))}
                />
              </span>
            );
          })}
        </div>
      )}
      {runs.length < MAX_RUNS && (
        <RunSearch
          label="Add a run"
          className={classes.add}
          runs={runs}
          onPick={(ids) => onChange([...runs, ...ids].slice(0, MAX_RUNS))}
        />
      )}
    </Group>
  );
}

/** Return how many runs there are of each method: "50 runs: PAAC 20, A3C 30". */
function describeRuns(runs: readonly number[], known: readonly ComparedRun[]): string {
  const methods = new Map<string, number>();
  for (const { method } of known) methods.set(method, (methods.get(method) ?? 0) + 1);
  const counts = [...methods].map(([method, count]) => `${method} ${count}`).join(", ");
  const environments = new Set(known.map(({ env }) => env)).size;
  const places = environments > 1 ? ` in ${plural(environments, "environment")}` : "";
  return `${plural(runs.length, "run")}${counts && `: ${counts}`}${places}`;
}

/** Errors of the critics of the runs over training. Empty if no run has a calibration. */
function CriticCard({ runs }: { runs: readonly number[] }) {
  const { data: biases } = useQuery(calibrationsFigureQuery(runs, { measure: "bias" }));
  const [measure, setMeasure] = useState<CriticMeasure>("rmse");
  if (!biases || biases.data.length === 0) return null;
  return (
    <section className={classes.card} aria-label="Critics">
      <Group gap="sm" mb="xs">
        <Title order={2}>Critics</Title>
        <MeasureChoice measure={measure} onMeasure={setMeasure} />
      </Group>
      <CriticChart runs={runs} measure={measure} />
      <Text size="xs" c="var(--arcadia-dim)" mt="xs">
        By the calibrations of the runs. Values and returns have the scale of training: compare runs with the
        same discount and reward clipping.
      </Text>
    </section>
  );
}

interface EfficiencyCardProps {
  runs: readonly number[];
  by: readonly string[];
  center: Center;
}

/** Scores of each group by step over all its runs and games. */
function EfficiencyCard({ runs, by, center }: EfficiencyCardProps) {
  const client = useQueryClient();
  const query = efficiencyFigureQuery(runs, by, center);
  const points = async () => ({ header: HEADER, rows: cells(await client.ensureQueryData(query)) });
  return (
    <section className={classes.card} aria-label="Sample efficiency">
      <FigureFrame
        title="Sample efficiency"
        hint="Scores over all runs and games by step with the 95 % interval of the stratified bootstrap (rliable)"
        label="Scores by step of the runs of each group over all games."
        query={query}
        zoom={null}
        onZoom={() => undefined}
        revision=""
        legend
        height={320}
        empty="Some groups have no finished episode in some of their games yet."
        file={`sample-efficiency-${runsInFileName(runs)}`}
        points={points}
      />
      <Text size="xs" c="var(--arcadia-dim)" mt="xs">
        {center === "iqm" ? "Interquartile mean" : "Mean"} of the last 100 episodes of each run, up to the
        step that three runs of each group reached (or all runs, if fewer have finished an episode). Runs that
        differ only in seed and game form one group unless you choose other settings. Scores of several games
        are scaled to the lowest and highest score of these runs.
      </Text>
    </section>
  );
}

const HEADER = ["settings", "step", "score", "low", "high"];

/** Return the figure's lines and bands for a CSV file. */
function cells({ data }: Figure): Cell[][] {
  const heights = (uid: string) => data.find((trace) => trace["uid"] === uid)?.["y"] as number[] | undefined;
  return data
    .filter((trace) => String(trace["uid"]).endsWith("-line"))
    .flatMap((line) => {
      const group = String(line["legendgroup"]);
      const [low, high] = [heights(`${group}-low`), heights(`${group}-high`)];
      return (line["x"] as number[]).map((step, place) => [
        group,
        step,
        (line["y"] as number[])[place],
        low?.[place],
        high?.[place],
      ]);
    });
}
