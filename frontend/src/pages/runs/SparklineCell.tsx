import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useMemo } from "react";
import { sparklinesQuery } from "@/api/metrics";
import type { ListedRun } from "@/api/types";
import { Sparkline } from "@/ui/Sparkline";

/** Runs per request. */
const BATCH = 50;

/** The batch of each listed run, so that the curves of many rows are fetched together. */
const Batches = createContext<ReadonlyMap<number, readonly number[]>>(new Map());

/** Fetches the small curves of its rows in batches. */
export function SparklineBatches({ runs, children }: { runs: readonly ListedRun[]; children: ReactNode }) {
  const key = runs.map(({ id }) => id).join();
  const batches = useMemo(() => {
    const ids = key === "" ? [] : key.split(",").map(Number);
    return new Map(
      ids.map((id, at) => [id, ids.slice(at - (at % BATCH), at - (at % BATCH) + BATCH)] as const),
    );
  }, [key]);
  return <Batches value={batches}>{children}</Batches>;
}

/** The return of a run over its training as a small curve. */
export function SparklineCell({ run }: { run: ListedRun }) {
  const batch = use(Batches).get(run.id) ?? [run.id];
  const { data } = useQuery(sparklinesQuery(batch));
  const values = data?.get(run.id);
  return values ? <Sparkline values={values} color={run.color} label="Return during training" /> : null;
}
