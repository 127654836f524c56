import { vi } from "vitest";

/** Charts wait until they are seen, which nothing is in jsdom: have everything be. */
export function everythingIsSeen(): void {
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(changed: (entries: object[]) => void) {
        changed([{ isIntersecting: true }]);
      }
      observe() {}
      disconnect() {}
    },
  );
}
