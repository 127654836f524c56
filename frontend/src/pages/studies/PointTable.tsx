import { Anchor, Button, Group, Title, Tooltip } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { useExtendStudy } from "@/api/studies";
import type { Study, StudyPoint, StudyRun } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { DataTable } from "@/ui/DataTable";
import { notifyDone } from "@/ui/notify";
import { exact, formatInterval, plural, score } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import { alsoMade, comparisonOf, decisionOf, isThere, ranked } from "./points";
import classes from "./studies.module.css";

const INITIAL_ROWS = 200;
const MORE_SEEDS = 5;

/** Table of all points, the best first. */
export function PointTable({ study }: { study: Study }) {
  const [all, setAll] = useState(false);
  const points = ranked(study.table);
  const shown = all ? points : points.slice(0, INITIAL_ROWS);
  const together = comparisonOf(study.table);
  return (
    <section className={classes.card} aria-label="Points">
      <Group justify="space-between" mb="xs">
        <Title order={2}>{plural(study.points, "point")}</Title>
        {together && (
          <Anchor component={Link} to={together} size="sm">
            Compare all curves
          </Anchor>
        )}
      </Group>
      <DataTable
        label="Points of the study"
        className={classes.table}
        verticalSpacing={6}
        rows={shown}
        rowKey={({ number }) => number}
        columns={[
          { title: "Point", className: classes.label, cell: (point) => <PointLink point={point} /> },
          {
            title: "Mean return",
            numeric: true,
            cell: ({ mean }) => <Score value={mean} meaning="Mean return over finished runs" />,
          },
          {
            title: "95 % interval",
            numeric: true,
            cell: ({ low, high }) => (low === null || high === null ? "–" : formatInterval([low, high])),
          },
          {
            title: "n",
            numeric: true,
            cell: ({ n, failed }) => (failed > 0 ? `${n} (${exact(failed)} failed)` : n),
          },
          study.verdict !== null && {
            title: "Decision",
            cell: (point) => <DecisionText study={study} point={point} />,
          },
          {
            title: "Seeds",
            cell: ({ runs }) => (
              <div className={classes.runs}>
                {runs.map((run) => (
                  <SeedMark key={run.seed} run={run} />
                ))}
              </div>
            ),
          },
          {
            title: "Actions",
            isTitleHidden: true,
            cell: (point) => study.may_edit && <NewSeeds study={study} point={point} />,
            cellProps: () => ({ className: classes.actions }),
          },
        ]}
      />
      {shown.length < points.length && (
        <Button variant="default" size="xs" mt="xs" onClick={() => setAll(true)}>
          Show all {points.length} points
        </Button>
      )}
    </section>
  );
}

function PointLink({ point }: { point: StudyPoint }) {
  const compared = comparisonOf([point]);
  if (!compared) return point.label;
  return (
    <Anchor component={Link} to={compared} size="sm">
      {point.label}
    </Anchor>
  );
}

/** Decision of a study until certain about a point, with the evidence in the tooltip. */
function DecisionText({ study, point }: { study: Study; point: StudyPoint }) {
  const { decision } = point;
  if (!decision) return null;
  const evidence = `E-value ${score(decision.e_value)} of the ${score(decision.threshold)} that show it ranks lower`;
  return (
    <Tooltip label={evidence}>
      <span>{decisionOf(study, point)}</span>
    </Tooltip>
  );
}

/** Button that adds seeds to a point. It asks for confirmation if more runs would start. */
function NewSeeds({ study, point }: { study: Study; point: StudyPoint }) {
  const extend = useExtendStudy(study.id);
  const [asked, setAsked] = useState(false);
  const others = alsoMade(study);
  const launch = () =>
    extend.mutate(
      { seeds: MORE_SEEDS, of: [point.number] },
      {
        onSuccess: () => notifyDone(`Planned ${MORE_SEEDS} more seeds of ${point.label}.`),
        onSettled: () => setAsked(false),
      },
    );
  return (
    <>
      <Button
        size="compact-xs"
        variant="subtle"
        loading={extend.isPending}
        onClick={others === null ? launch : () => setAsked(true)}
      >
        Add {MORE_SEEDS} new seeds
      </Button>
      {others !== null && (
        <ConfirmModal
          opened={asked}
          title="Resume the stopped study?"
          action={`Launch ${plural(MORE_SEEDS + study.runs_remaining, "run")}`}
          onClose={() => setAsked(false)}
          onConfirm={launch}
          busy={extend.isPending}
        >
          {point.label} gets {MORE_SEEDS} new seeds, and the study resumes. {others}
        </ConfirmModal>
      )}
    </>
  );
}

function SeedMark({ run }: { run: StudyRun }) {
  const label = `Seed ${run.seed}: ${run.state}${run.score === null ? "" : `, ${score(run.score)}`}`;
  return (
    <Tooltip label={label}>
      {isThere(run) ? (
        <Link to={`/runs/${run.run_id}`} className={classes.run} data-state={run.state} aria-label={label}>
          {run.seed}
        </Link>
      ) : (
        <span className={classes.run} data-state={run.state}>
          {run.seed}
        </span>
      )}
    </Tooltip>
  );
}
