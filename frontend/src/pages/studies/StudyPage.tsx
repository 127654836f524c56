import { Alert, Anchor, SegmentedControl, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { isNotFound } from "@/api/problem";
import { paperQuery } from "@/api/papers";
import { studyFigureQuery, studyQuery } from "@/api/studies";
import type { Study } from "@/api/types";
import { FigureFrame } from "@/charts/FigureFrame";
import { projectAddress } from "@/ui/currentProject";
import { lowerCaseLabel, nearestPercent } from "@/ui/format";
import { Markdown } from "@/ui/Markdown";
import { EmptyState } from "@/ui/EmptyState";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { PointTable } from "./PointTable";
import classes from "./studies.module.css";
import { StudyActions } from "./StudyActions";
import { StudyProgress, StudyState } from "./StudyState";
import { isSuite, SuiteCard } from "./SuiteCard";
import { POINT_HEADER, pointCells } from "./points";

/** One study with its question, progress and results per point. */
export default function StudyPage() {
  const { id = "" } = useParams();
  const number = Number(id);
  const study = useQuery({ ...studyQuery(number), enabled: Number.isInteger(number) });
  usePageTitle(study.data?.name ?? `Study ${id}`);
  // Data of a study deleted in another window is still cached.
  if (!Number.isInteger(number) || isNotFound(study.error)) {
    return (
      <EmptyState title={`There is no study ${id}`} alone>
        It may have been deleted, or you have no access to its project.{" "}
        <Anchor component={Link} to="/studies">
          See all studies
        </Anchor>
      </EmptyState>
    );
  }
  const problem = study.data ? null : study.error;
  return (
    <Stack className={classes.sheet} gap="md">
      <Anchor component={Link} to="/studies" size="sm" w="fit-content">
        All studies
      </Anchor>
      {problem && (
        <>
          <Title order={1}>Study {id}</Title>
          <QueryError error={problem} retry={() => void study.refetch()} />
        </>
      )}
      {study.isPending && (
        <>
          <Title order={1}>Study {id}</Title>
          <Skeleton height={320} radius="sm" role="status" aria-label="Loading the study…" />
        </>
      )}
      {study.data && <StudySheet key={id} study={study.data} />}
    </Stack>
  );
}

function StudySheet({ study }: { study: Study }) {
  return (
    <>
      <Stack gap={8}>
        <Title order={1}>
          {study.name} <StudyState study={study} />
        </Title>
        <Text size="sm">
          Project{" "}
          <Anchor component={Link} to={projectAddress(study.project)} inherit>
            {study.project}
          </Anchor>
        </Text>
        {study.origin && <Origin origin={study.origin} />}
        {study.question.trim() !== "" && (
          <div className={classes.question}>
            <Markdown>{study.question}</Markdown>
          </div>
        )}
        <StudyActions study={study} />
      </Stack>
      {study.state_reason && (
        <Alert variant="light" color="yellow" p="sm" title="Study paused automatically">
          <Text size="sm">{study.state_reason} Fix the cause, then resume the study.</Text>
        </Alert>
      )}
      <StudyProgress study={study} />
      {study.verdict !== null && (
        <CertainVerdict verdict={study.verdict} limit={study.specification.max_seeds} />
      )}
      {isSuite(study) && <SuiteCard study={study} />}
      {study.axes.length > 0 && <StudyFigure study={study} />}
      {study.axes.length > 1 && <AllAxes study={study} />}
      <PointTable study={study} />
    </>
  );
}

/** Verdict of a study until certain: its best and its undecided points. */
function CertainVerdict({ verdict, limit }: { verdict: string; limit: number | undefined }) {
  return (
    <section className={classes.card} aria-label="Verdict">
      <Title order={2} mb="xs">
        Verdict
      </Title>
      <Text size="sm">{verdict}</Text>
      <p className={classes.dim}>
        When all runs have ended, each undecided point gets another seed, up to {limit} seeds. At most 5 % of
        studies wrongly rank a point lower, although results are checked each time.
      </p>
    </section>
  );
}

/** Link to the paper's table or figure that the study was started from. */
function Origin({ origin }: { origin: NonNullable<Study["origin"]> }) {
  const paper = useQuery(paperQuery(origin.paper)).data;
  const label = lowerCaseLabel(paper?.items.find(({ name }) => name === origin.item)?.label ?? origin.item);
  return (
    <Text size="sm">
      From{" "}
      <Anchor component={Link} to={`/papers/${origin.paper}/${origin.item}`} inherit>
        {paper?.title ?? origin.paper}, {label}
      </Anchor>
      , at {nearestPercent(origin.share)} of its budget
    </Text>
  );
}

function StudyFigure({ study }: { study: Study }) {
  const numeric = study.axes.findIndex((axis) => axis.numeric);
  const [axis, setAxis] = useState(Math.max(0, numeric));
  const title = study.axes[axis]?.title ?? "";
  return (
    <section className={classes.card} aria-label="Returns along an axis">
      {study.axes.length > 1 && (
        <SegmentedControl
          size="xs"
          mb="xs"
          aria-label="Axis"
          maw="100%"
          style={{ overflowX: "auto" }}
          value={String(axis)}
          onChange={(chosen) => setAxis(Number(chosen))}
          data={study.axes.map((each, place) => ({ value: String(place), label: each.title }))}
        />
      )}
      <FigureFrame
        title={`Return by ${title.toLowerCase()}`}
        label={`Mean return of each run by ${title}. The table has the same data.`}
        query={studyFigureQuery(study.id, { kind: "scatter", axis })}
        zoom={null}
        onZoom={() => undefined}
        xLog={study.axes[axis]?.log ?? false}
        revision={String(axis)}
        legend={study.axes.length > 1}
        height={320}
        empty="No episodes yet. Runs appear here while they train."
        file={`study-${study.id}`}
        points={() => Promise.resolve({ header: POINT_HEADER, rows: pointCells(study) })}
      />
      <p className={classes.dim}>
        Dots are runs, hollow until they finish. Diamonds are means of a point&apos;s finished runs with 95 %
        intervals over seeds.
      </p>
    </section>
  );
}

const AXIS_ROW = 40;
const BARS_AXIS = 70;

/** Charts of all axes together and of the importance of each axis. */
function AllAxes({ study }: { study: Study }) {
  const points = () => Promise.resolve({ header: POINT_HEADER, rows: pointCells(study) });
  const shared = { zoom: null, onZoom: () => undefined, revision: "", points };
  return (
    <div className={classes.both}>
      <section className={classes.card} aria-label="All axes together">
        <FigureFrame
          {...shared}
          title="All axes together"
          label="One line per point through its value on each axis to its mean return. The table has the same data."
          query={studyFigureQuery(study.id, { kind: "parallel" })}
          legend
          height={320}
          empty="No finished runs yet."
          file={`study-${study.id}-axes`}
        />
      </section>
      <section className={classes.card} aria-label="Axis importance">
        <FigureFrame
          {...shared}
          title="Axis importance"
          hint="Share of the variance of returns that an axis alone explains (ω²)"
          label="Share of the variance of returns that each axis alone explains."
          query={studyFigureQuery(study.id, { kind: "importance" })}
          legend={false}
          height={BARS_AXIS + AXIS_ROW * study.axes.length}
          empty="Too few finished runs."
          file={`study-${study.id}-importance`}
        />
      </section>
    </div>
  );
}
