import { vi } from "vitest";

/** Make all elements visible. Charts wait until they are visible, which never happens in jsdom. */
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
