/** Metrics of the machine rather than of the learning. */
export function isSystemMetric(name: string): boolean {
  return ["system/", "throughput/", "time/"].some((prefix) => name.startsWith(prefix));
}
