import { Group, SegmentedControl, Skeleton, Stack, Text, Title } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { startForecastsQuery } from "@/api/workers";
import type { StartCalibration } from "@/api/types";
import { FigureFrame } from "@/charts/FigureFrame";
import { exact, nearestPercent } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { describeCalibration, describeScore, drawWaits } from "./waits";
import classes from "./workers.module.css";

const PERIODS = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
];

/** How often waiting runs started by the time that their pages stated. */
export function StartForecasts() {
  const [days, setDays] = useState("30");
  const query = useQuery(startForecastsQuery(Number(days)));
  return (
    <Stack gap="xs" maw={720} component="section" aria-label="Forecasts of starts">
      <Group gap="md">
        <Title order={2}>Forecasts of starts</Title>
        <SegmentedControl aria-label="Period" size="xs" data={PERIODS} value={days} onChange={setDays} />
      </Group>
      {query.isError && !query.data && <QueryError error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={60} radius="sm" role="status" aria-label="Loading forecasts…" />}
      {query.data && <Calibration found={query.data} />}
    </Stack>
  );
}

function Calibration({ found }: { found: StartCalibration }) {
  const { undisturbed, all, relative_error, waiting, without_time, waits, days } = found;
  return (
    <>
      <Text size="sm">{describeCalibration(found)}</Text>
      <dl className={classes.facts}>
        <dt>If nobody added work ahead</dt>
        <dd>{describeScore(undisturbed)}</dd>
        <dt>All forecasts</dt>
        <dd>{describeScore(all)}</dd>
        {relative_error !== null && (
          <>
            <dt>Error of the expected wait</dt>
            <dd>{nearestPercent(relative_error)} of the real wait, in the median</dd>
          </>
        )}
        <dt>Not due yet</dt>
        <dd>{exact(waiting)}</dd>
        <dt>Without a stated time</dt>
        <dd>{exact(without_time)}</dd>
      </dl>
      {waits.length > 0 && (
        <FigureFrame
          bare
          title="Expected and real waits"
          hint="On the dashed line, runs waited as long as expected. Above it, they waited longer."
          label="Real wait of runs by expected wait: the median and the middle half."
          query={queryOptions({
            queryKey: ["start-forecasts-figure", days, found],
            queryFn: () => drawWaits(found),
            staleTime: Infinity,
          })}
          zoom={null}
          onZoom={() => undefined}
          revision={`${days}`}
          legend
          height={320}
        />
      )}
    </>
  );
}
