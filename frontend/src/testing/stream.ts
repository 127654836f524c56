import { vi } from "vitest";

/** A fake EventSource. */
export class FakeSource extends EventTarget {
  static opened: FakeSource[] = [];
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  closed = false;

  constructor(readonly url: string) {
    super();
    FakeSource.opened.push(this);
  }

  close() {
    this.closed = true;
  }

  say(kind: string, data = "") {
    this.dispatchEvent(new MessageEvent(kind, { data }));
  }

  /** The connections that are open now. */
  static get open(): FakeSource[] {
    return FakeSource.opened.filter(({ closed }) => !closed);
  }
}

/** Replace EventSource by a fake without open connections. */
export function fakeStreams(): void {
  FakeSource.opened = [];
  vi.stubGlobal("EventSource", FakeSource);
}

/** Return the stream that is open now. */
export function stream(): FakeSource {
  const [open] = FakeSource.open;
  if (!open) throw new Error("No stream is open.");
  return open;
}
