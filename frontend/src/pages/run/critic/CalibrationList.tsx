import { Anchor, Group, Stack, Table, Text, VisuallyHidden } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconScale } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { calibrationsQuery, type CriticMeasure } from "@/api/calibrations";
import { isUnfinished } from "@/api/jobs";
import type { Calibration, Run } from "@/api/types";
import { CriticChart, MeasureChoice } from "@/charts/CriticChart";
import { BlockableButton } from "@/ui/BlockableButton";
import { DownloadCsv } from "@/ui/DownloadCsv";
import { EmptyState } from "@/ui/EmptyState";
import { exact, formatInterval, plural, score } from "@/ui/format";
import { NoPlayer } from "@/ui/NoPlayer";
import { QueryError } from "@/ui/QueryError";
import { WideTable } from "@/ui/WideTable";
import { EvaluationsChart } from "../evaluations/EvaluationsChart";
import { JobRow, RequestedCell, SupersededBadge } from "../JobRow";
import jobClasses from "../jobs.module.css";
import runClasses from "../run.module.css";
import { CalibrateModal } from "./CalibrateModal";
import { CalibrationActions } from "./CalibrationActions";
import { CalibrationState } from "./CalibrationState";
import classes from "./critic.module.css";
import { calibrationName, describeBias, formatMeasure } from "./words";

const COLUMN_COUNT = 8;

/** All calibrations of a run: the errors over training beside the scores, and a table. */
export function CalibrationList({ run }: { run: Run }) {
  const { data, isError, error, refetch } = useQuery(calibrationsQuery(run.id));
  const [isFormOpen, form] = useDisclosure(false);
  const [measure, setMeasure] = useState<CriticMeasure>("bias");
  if (isError && !data) return <QueryError error={error} retry={() => void refetch()} />;
  if (!data) return <Text c="dimmed">Loading calibrations…</Text>;
  const newest = data.find(({ errors, superseded }) => errors !== null && !superseded);
  return (
    <Stack gap="md">
      {data.length === 0 ? (
        <EmptyState icon={IconScale} title="No calibrations yet">
          <Text mb="md">
            A calibration simulates futures from decisions of a checkpoint's episodes. It estimates how wrong
            the critic's values are, and how much the chosen actions lose against the best ones.
          </Text>
          <BlockableButton blocked={run.actions.play} onClick={form.open}>
            Calibrate critic
          </BlockableButton>
        </EmptyState>
      ) : (
        <>
          <Group justify="space-between" gap="sm">
            <Text size="sm" style={{ flex: "1 1 240px" }}>
              {newest?.errors
                ? `At ${calibrationName(newest)}: ${describeBias(newest.errors)}`
                : `${plural(data.length, "calibration")} of this run's checkpoints`}
            </Text>
            <Group gap="xs">
              <DownloadCsv from={`/export/runs/${run.id}/calibrations.csv`} label="Download errors (CSV)" />
              <BlockableButton blocked={run.actions.play} size="xs" onClick={form.open}>
                Calibrate critic
              </BlockableButton>
            </Group>
          </Group>
          {data.some(isUnfinished) && <NoPlayer />}
          <MeasureChoice measure={measure} onMeasure={setMeasure} />
          <div className={classes.charts}>
            <div className={runClasses.card}>
              <CriticChart runs={[run.id]} measure={measure} />
            </div>
            <div className={runClasses.card}>
              <EvaluationsChart run={run} />
            </div>
          </div>
          <CalibrationTable run={run} calibrations={data} />
        </>
      )}
      {isFormOpen && <CalibrateModal run={run} onClose={form.close} />}
    </Stack>
  );
}

function CalibrationTable({ run, calibrations }: { run: Run; calibrations: readonly Calibration[] }) {
  return (
    <WideTable label="Table of calibrations" className={runClasses.card}>
      <Table verticalSpacing={8} className={`${runClasses.oneLine} ${jobClasses.table}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Checkpoint</Table.Th>
            <Table.Th
              ta="right"
              title="Mean of value − mean return, and its 95 % interval. Above 0: too high."
            >
              Bias
            </Table.Th>
            <Table.Th ta="right" visibleFrom="sm" title="Root mean square error of the values">
              RMSE
            </Table.Th>
            <Table.Th ta="right" visibleFrom="sm" title="Of values and mean returns">
              Correlation
            </Table.Th>
            <Table.Th
              ta="right"
              visibleFrom="sm"
              title="Mean return lost by the chosen action against the best one: 95 % interval"
            >
              Regret
            </Table.Th>
            <Table.Th visibleFrom="sm">Requested</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {calibrations.map((calibration) => (
            <CalibrationRow key={calibration.id} run={run} calibration={calibration} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

/** Table row of a calibration. */
function CalibrationRow({ run, calibration }: { run: Run; calibration: Calibration }) {
  const { id, step, errors, superseded } = calibration;
  return (
    <JobRow job={calibration} columnCount={COLUMN_COUNT}>
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
        <Measured value={errors?.rmse} interval={errors?.rmse_interval} />
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
        <CalibrationState calibration={calibration} />
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
