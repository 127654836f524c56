import { useQueries } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useMemo } from "react";
import { sparklinesQuery } from "@/api/metrics";
import type { ListedRun } from "@/api/types";
import { Sparkline } from "@/ui/Sparkline";

/** Runs per request. */
const BATCH = 50;

type Values = readonly (number | null)[];

const Curves = createContext<ReadonlyMap<number, Values>>(new Map());

interface SparklineBatchesProps {
  runs: readonly ListedRun[];
  /** False if no curve is shown. */
  enabled?: boolean;
  children: ReactNode;
}

/** Fetches the small curves of its rows in batches. */
export function SparklineBatches({ runs, enabled = true, children }: SparklineBatchesProps) {
  const key = enabled ? runs.map(({ id }) => id).join() : "";
  const batches = useMemo(() => {
    const ids = key === "" ? [] : key.split(",").map(Number);
    return Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, at) =>
      ids.slice(at * BATCH, (at + 1) * BATCH),
    );
  }, [key]);
  const curves = useQueries({ queries: batches.map(sparklinesQuery), combine: joinCurves });
  return <Curves value={curves}>{children}</Curves>;
}

const joinCurves = (results: { data: ReadonlyMap<number, Values> | undefined }[]) =>
  new Map(results.flatMap(({ data }) => [...(data ?? [])]));

/** The return of a run over its training as a small curve. */
export function SparklineCell({ run }: { run: ListedRun }) {
  const values = use(Curves).get(run.id);
  return values ? <Sparkline values={values} color={run.color} label="Return during training" /> : null;
}
