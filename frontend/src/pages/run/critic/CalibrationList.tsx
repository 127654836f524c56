import { Anchor, Group, Table, Text } from "@mantine/core";
import { IconScale } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { calibrationsQuery, type CriticMeasure } from "@/api/calibrations";
import type { Calibration, Run } from "@/api/types";
import { CriticChart, MeasureChoice } from "@/charts/CriticChart";
import { DownloadCsv } from "@/ui/DownloadCsv";
import { exact, formatInterval, plural, score } from "@/ui/format";
import { EvaluationsChart } from "../evaluations/EvaluationsChart";
import { JobList, JobRow, RequestedCell, SupersededBadge } from "../JobList";
import jobClasses from "../jobs.module.css";
import runClasses from "../run.module.css";
import { CalibrateModal } from "./CalibrateModal";
import { CalibrationActions } from "./CalibrationActions";
import { JobState } from "@/ui/JobState";
import classes from "./critic.module.css";
import { calibrationName, describeBias, formatMeasure } from "./words";

const COLUMNS = [
  { name: "Checkpoint" },
  {
    name: "Bias",
    hint: "Mean of value − mean return, and its 95 % interval. Above 0: too high.",
    right: true,
  },
  { name: "RMSE", hint: "Root mean square error of the values", right: true, wide: true },
  { name: "Correlation", hint: "Of values and mean returns", right: true, wide: true },
  {
    name: "Regret",
    hint: "Mean return lost by the chosen action against the best one: 95 % interval",
    right: true,
    wide: true,
  },
];

/** All calibrations of a run: the errors over training beside the scores, and a table. */
export function CalibrationList({ run }: { run: Run }) {
  const query = useQuery(calibrationsQuery(run.id));
  const [measure, setMeasure] = useState<CriticMeasure>("bias");
  const newest = query.data?.find(({ errors, superseded }) => errors !== null && !superseded);
  return (
    <JobList
      run={run}
      noun="calibration"
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
      row={(calibration) => <CalibrationRow run={run} calibration={calibration} />}
      modal={(close) => <CalibrateModal run={run} onClose={close} />}
    />
  );
}

/** Table row of a calibration. */
function CalibrationRow({ run, calibration }: { run: Run; calibration: Calibration }) {
  const { id, step, errors, superseded } = calibration;
  return (
    <JobRow job={calibration} columns={COLUMNS}>
      <Table.Td>
        <Group gap="4px 8px">
          <Anchor component={Link} to={`/runs/${run.id}/critic/${id}`} size="sm" title={exact(step, "steps")}>
            {calibrationName(calibration)}
          </Anchor>
          {superseded && <SupersededBadge />}
        </Group>
        {errors && (
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            RMSE {score(errors.rmse)}, correlation {score(errors.correlation)}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">
        {errors && (
          <Text span size="sm" c="dimmed" hiddenFrom="sm">
            bias{" "}
          </Text>
        )}
        <Measured value={errors?.bias} interval={errors?.bias_interval} />
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        <Measured value={errors?.rmse} interval={null} />
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        <Measured value={errors?.correlation} interval={errors?.correlation_interval} />
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        {errors?.regret
          ? formatInterval(errors.regret.interval ?? [errors.regret.at_least, errors.regret.at_most])
          : score(null)}
      </Table.Td>
      <RequestedCell job={calibration} />
      <Table.Td>
        <JobState job={calibration} kind="calibration" />
      </Table.Td>
      <Table.Td>
        <CalibrationActions calibration={calibration} />
      </Table.Td>
    </JobRow>
  );
}

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
