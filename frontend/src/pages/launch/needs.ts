import type { RunNeeds } from "@/api/types";

/** What a run needs of a worker's host, as it is typed. */
export interface TypedNeeds {
  labels: string[];
  cores: string;
  memory_gb: string;
  gpu_memory_gb: string;
}

export const AMOUNTS = [
  ["cores", "Cores"],
  ["memory_gb", "Memory (GB)"],
  ["gpu_memory_gb", "GPU memory (GB)"],
] as const;

/** Return needs as they are typed. */
export function typedNeeds(needs: Partial<RunNeeds> | undefined): TypedNeeds {
  const text = (amount: number | null | undefined) => (amount == null ? "" : String(amount));
  return {
    labels: needs?.labels ?? [],
    cores: text(needs?.cores),
    memory_gb: text(needs?.memory_gb),
    gpu_memory_gb: text(needs?.gpu_memory_gb),
  };
}

/** Return the needs of a request. Text that is no number is sent as it is, so that the server says what is wrong. */
export function requestedNeeds(typed: TypedNeeds): Record<string, unknown> {
  const amounts = AMOUNTS.map(([name]) => [name, typed[name].trim()] as const).filter(
    ([, text]) => text !== "",
  );
  const numbers = amounts.map(([name, text]) => [name, Number.isFinite(Number(text)) ? Number(text) : text]);
  return { ...Object.fromEntries(numbers), ...(typed.labels.length > 0 && { labels: typed.labels }) };
}
