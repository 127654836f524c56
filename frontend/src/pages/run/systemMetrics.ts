/** Return True if a metric describes the host rather than the learning. */
export function isSystemMetric(name: string): boolean {
  return ["system/", "throughput/", "time/"].some((prefix) => name.startsWith(prefix));
}
