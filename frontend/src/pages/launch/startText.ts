import type { RunForecast } from "@/api/types";
import { duration, plural } from "@/ui/format";

/** Return the queue position of a new run and its expected start. Schedulers are the titles of those set up. */
export function startText(forecast: RunForecast, now: number, schedulers: readonly string[] = []): string {
  const { capacity, queue, runs_ahead: ahead, starts_in_seconds: wait, start_unknown: unknown } = forecast;
  const worker = `${queue === "gpu" ? "GPU" : "CPU"} worker`;
  if (forecast.executor !== "workers") return unknown ?? "";
  if (capacity.workers === 0) {
    return `No ${worker} is connected. Start one to train${schedulers.map((title) => `, or train on ${title}`).join("")}.`;
  }
  if (wait === 0 && ahead < capacity.idle) return `A ${worker} is free. Training starts immediately.`;
  const position =
    ahead === 0
      ? `Next in the queue: ${capacity.workers === 1 ? `the ${worker} is` : `all ${worker}s are`} busy.`
      : `Position ${ahead + 1} in the queue: ${plural(ahead, "run starts", "runs start")} earlier.`;
  if (wait === null) return `${position} Start unknown: ${unknown ?? "nothing is measured."}`;
  const clock = new Date(now + wait * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return `${position} Expected start: in ${duration(wait)}${wait < 86_400 ? `, at ${clock}` : ""}.`;
}
