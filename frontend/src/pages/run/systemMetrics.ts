/** Metrics of the machine rather than of the learning. */
export function isSystemMetric(name: string): boolean {
  return name.startsWith("system/") || name.startsWith("throughput/");
}
