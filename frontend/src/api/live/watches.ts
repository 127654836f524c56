import { call } from "../client";
import type { Topic } from "../topics";
import type { DocumentChanged, LiveEvent } from "./events";

/** A document that a tab shows, and the notices after which the server reads it again. */
export interface Watch {
  path: string;
  etag: string;
  notice: string | null;
  topics: Topic[];
  every: number;
}

/** Watches and topics of notices that the server accepts. */
const MAX_WATCHES = 300;
const MAX_TOPICS = 100;
const RETRY_MS = 2000;
const UNKNOWN = "";

interface Wanted {
  watches: readonly Watch[];
  notices: readonly Topic[];
}

/** Sends what all tabs want of one stream to the server, whenever it differs from what the server has. */
export class Watches {
  private stream: string | null = null;
  private readonly tabs = new Map<string, Wanted>();
  /** The watches that the server has, with the etags that it sent last. */
  private sent = new Map<string, Watch>();
  /** The notices that the server sends. It begins with all. */
  private sentNotices = "";
  private isSending = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Replace the watches of a tab, and the notices that it needs. */
  set(tab: string, watches: readonly Watch[], notices: readonly Topic[]): void {
    this.tabs.set(tab, { watches, notices });
    void this.send();
  }

  take(event: LiveEvent): void {
    switch (event.kind) {
      case "hello":
        // Tabs send their watches again, except those that were closed.
        this.tabs.clear();
        this.sent.clear();
        this.sentNotices = "";
        this.stream = event.stream;
        break;
      case "refetch":
        // The server has forgotten the etags.
        this.sent.clear();
        break;
      case "document.changed":
        this.change(event);
    }
  }

  /** Forget the stream, because it was interrupted. */
  disconnect(): void {
    clearTimeout(this.timer);
    this.stream = null;
  }

  /** Give watches the version that the tabs have after a change. */
  private change({ path, etag, from, notice }: DocumentChanged): void {
    if (etag === undefined) return;
    const update = (watch: Watch): Watch =>
      watch.path === path && (!from || watch.etag === from)
        ? { ...watch, etag, notice: notice ?? watch.notice }
        : watch;
    for (const [tab, { watches, notices }] of this.tabs)
      this.tabs.set(tab, { watches: watches.map(update), notices });
    const sent = this.sent.get(path);
    // After a lost change, the etag that the server has is unknown. A tab will fetch the document and watch it again.
    if (sent) this.sent.set(path, { ...sent, etag: !from || from === sent.etag ? etag : UNKNOWN });
  }

  private async send(): Promise<void> {
    const { stream } = this;
    if (stream === null || this.isSending) return;
    const watches = this.merged();
    const notices = this.notices();
    if (isSame(watches, this.sent) && this.sentNotices === JSON.stringify(notices)) return;
    this.isSending = true;
    this.sent = watches;
    this.sentNotices = JSON.stringify(notices);
    try {
      const body = { watches: [...watches.values()], notices };
      await call("put", "/api/v1/events/{stream}/watches", { params: { path: { stream } }, body });
      this.isSending = false;
      void this.send();
    } catch {
      // The stream reports that the server is away, and every tab shows it.
      this.isSending = false;
      if (this.stream === stream) {
        this.sent.clear();
        this.sentNotices = "";
      }
      this.timer = setTimeout(() => void this.send(), RETRY_MS);
    }
  }

  /** Return the notices that any tab needs, or null for all if they are too many. */
  private notices(): Topic[] | null {
    const topics = [...this.tabs.values()].flatMap(({ notices }) => notices);
    const distinct = new Map(topics.map((topic) => [JSON.stringify(topic), topic]));
    return distinct.size > MAX_TOPICS ? null : [...distinct.values()];
  }

  private merged(): Map<string, Watch> {
    const merged = new Map<string, Watch>();
    for (const watch of [...this.tabs.values()].flatMap(({ watches }) => watches)) {
      const other = merged.get(watch.path);
      if (other && other.etag !== watch.etag) {
        // Without a notice, the server reads the document, and the outdated tab learns of the newer version.
        merged.set(watch.path, { ...other, notice: null });
      } else if (merged.size < MAX_WATCHES) merged.set(watch.path, watch);
    }
    return merged;
  }
}

function isSame(watches: ReadonlyMap<string, Watch>, sent: ReadonlyMap<string, Watch>): boolean {
  const wishOf = ({ etag, topics, every }: Watch) => JSON.stringify([etag, topics, every]);
  return (
    watches.size === sent.size &&
    [...watches].every(([path, watch]) => {
      const other = sent.get(path);
      return other !== undefined && wishOf(other) === wishOf(watch);
    })
  );
}
