import { Anchor, Group, Text } from "@mantine/core";
import { IconScale } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { calibrationsQuery, type CriticMeasure } from "@/api/calibrations";
import type { Calibration, Run } from "@/api/types";
import { CriticChart, MeasureChoice } from "@/charts/CriticChart";
import { DownloadCsv } from "@/ui/DownloadCsv";
import { exact, formatInterval, plural, score } from "@/ui/format";
import { EvaluationsChart } from "../evaluations/EvaluationsChart";
import { type JobColumn, JobList, SupersededBadge } from "../JobList";
import { CalibrateModal } from "./CalibrateModal";
import { CalibrationActions, CalibrationDetail } from "./CalibrationDetail";
import { calibrationName, describeBias, formatMeasure } from "./words";
import jobClasses from "../jobs.module.css";
import runClasses from "../run.module.css";
import classes from "./critic.module.css";

/** List of a run's calibrations, or one calibration if the URL names it. */
export function CriticTab({ run }: { run: Run }) {
  const { item } = useParams();
  return item === undefined ? (
    <CalibrationList run={run} />
  ) : (
    <CalibrationDetail key={item} run={run} idText={item} />
  );
}

/** All calibrations of a run: the errors over training beside the scores, and a table. */
function CalibrationList({ run }: { run: Run }) {
  const query = useQuery(calibrationsQuery(run.id));
  const [measure, setMeasure] = useState<CriticMeasure>("bias");
  const newest = query.data?.find(({ errors, superseded }) => errors !== null && !superseded);
  return (
    <JobList
      run={run}
      kind="calibration"
      query={query}
      jobs={query.data}
      empty={{
        icon: IconScale,
        text: "A calibration simulates futures from decisions of a checkpoint's episodes. It estimates how wrong the critic's values are, and how much the chosen actions lose against the best ones.",
      }}
      action="Calibrate critic"
      summary={
        newest?.errors
          ? `At ${calibrationName(newest)}: ${describeBias(newest.errors)}`
          : `${plural(query.data?.length ?? 0, "calibration")} of this run's checkpoints`
      }
      tools={<DownloadCsv from={`/export/runs/${run.id}/calibrations.csv`} label="Download errors (CSV)" />}
      charts={
        <>
          <MeasureChoice measure={measure} onMeasure={setMeasure} />
          <div className={classes.charts}>
            <div className={runClasses.card}>
              <CriticChart runs={[run.id]} measure={measure} />
            </div>
            <div className={runClasses.card}>
              <EvaluationsChart run={run} />
            </div>
          </div>
        </>
      }
      columns={COLUMNS}
      actions={(calibration) => <CalibrationActions calibration={calibration} />}
      modal={(close) => <CalibrateModal run={run} onClose={close} />}
    />
  );
}

const COLUMNS: readonly JobColumn<Calibration>[] = [
  {
    name: "Checkpoint",
    cell: (calibration) => {
      const { id, run_id, step, errors, superseded } = calibration;
      return (
        <>
          <Group gap="4px 8px">
            <Anchor
              component={Link}
              to={`/runs/${run_id}/critic/${id}`}
              size="sm"
              title={exact(step, "steps")}
            >
              {calibrationName(calibration)}
            </Anchor>
            {superseded && <SupersededBadge />}
          </Group>
          {errors && (
            <Text size="xs" c="dimmed" hiddenFrom="sm">
              RMSE {score(errors.rmse)}, correlation {score(errors.correlation)}
            </Text>
          )}
        </>
      );
    },
  },
  {
    name: "Bias",
    hint: "Mean of value − mean return, and its 95 % interval. Above 0: too high.",
    right: true,
    cell: ({ errors }) => (
      <>
        {errors && (
          <Text span size="sm" c="dimmed" hiddenFrom="sm">
            bias{" "}
          </Text>
        )}
        <Measured value={errors?.bias} interval={errors?.bias_interval} />
      </>
    ),
  },
  {
    name: "RMSE",
    hint: "Root mean square error of the values",
    right: true,
    wide: true,
    cell: ({ errors }) => <Measured value={errors?.rmse} interval={null} />,
  },
  {
    name: "Correlation",
    hint: "Of values and mean returns",
    right: true,
    wide: true,
    cell: ({ errors }) => <Measured value={errors?.correlation} interval={errors?.correlation_interval} />,
  },
  {
    name: "Regret",
    hint: "Mean return lost by the chosen action against the best one: 95 % interval",
    right: true,
    wide: true,
    cell: ({ errors }) =>
      errors?.regret
        ? formatInterval(errors.regret.interval ?? [errors.regret.at_least, errors.regret.at_most])
        : score(null),
  },
];

interface MeasuredProps {
  value: number | null | undefined;
  interval: readonly [number, number] | null | undefined;
}

function Measured({ value, interval }: MeasuredProps) {
  return (
    <>
      <span className={jobClasses.mean}>
        {value === undefined || value === null ? score(null) : formatMeasure(value, interval ?? null)}
      </span>
      {interval && (
        <Text size="xs" c="dimmed" title="95 % interval">
          {formatInterval(interval)}
        </Text>
      )}
    </>
  );
}
