import { vi } from "vitest";
import type { DocumentChanged } from "@/api/live/events";
import type { Operation } from "@/api/live/patch";
import type { Watch } from "@/api/live/watches";
import type { Topic } from "@/api/topics";

type Body = Record<string, unknown>;
type Change = Omit<DocumentChanged, "kind">;

/** A fake server with documents. It sends the changes of watched documents as the real one does. */
export class DocumentServer {
  /** Paths of the documents that pages requested. */
  readonly requested: string[] = [];
  /** The sets of watches that pages sent. */
  readonly sets: Watch[][] = [];
  /** The notices that the page wants. */
  wanted: Topic[] | null = null;
  private readonly documents = new Map<string, Body>();
  private readonly bodies = new Map<string, Body>();
  /** Etags that the page has, by path. */
  private readonly watched = new Map<string, string>();
  private notices = 0;

  /** `send` receives each change of a watched document. */
  constructor(private readonly send: (change: Change) => void) {
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => this.answer(input as Request));
  }

  /** Return the paths of the last set of watches. */
  get paths(): string[] {
    return (this.sets.at(-1) ?? []).map(({ path }) => path);
  }

  read(path: string): Body {
    const body = this.documents.get(path);
    if (!body) throw new Error(`There is no document ${path}.`);
    return body;
  }

  /** Change a document. */
  write(path: string, body: Body): void {
    this.notices += 1;
    this.documents.set(path, body);
    this.evaluate(path);
  }

  /** Forget the watches, as when the connection ends. */
  disconnect(): void {
    this.watched.clear();
  }

  private get notice(): string {
    return `origin-${this.notices}`;
  }

  private etagOf(body: Body): string {
    const etag = String(
      JSON.stringify(body)
        .split("")
        .reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) | 0, 7),
    );
    this.bodies.set(etag, body);
    return etag;
  }

  private evaluate(path: string): void {
    const body = this.read(path);
    const [from, etag] = [this.watched.get(path), this.etagOf(body)];
    if (from === undefined || from === etag) return;
    this.watched.set(path, etag);
    const before = this.bodies.get(from);
    const change = before ? { from, patch: differenceOf(before, body) } : { document: body };
    this.send({ path, etag, notice: this.notice, ...change });
  }

  private async answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    if (request.method === "PUT") {
      const { watches, notices } = (await request.json()) as { watches: Watch[]; notices: Topic[] | null };
      this.replaceWatches(watches);
      this.wanted = notices;
      return new Response(null, { status: 204 });
    }
    const path = pathname + search;
    this.requested.push(path);
    const body = this.read(path);
    const headers = { ETag: `"${this.etagOf(body)}"`, "Arcadia-Notice": this.notice };
    return Object.defineProperty(Response.json(body, { headers }), "url", { value: request.url });
  }

  private replaceWatches(watches: Watch[]): void {
    this.sets.push(watches);
    const before = new Map(this.watched);
    this.watched.clear();
    for (const { path, etag, notice } of watches) {
      this.watched.set(path, etag);
      if (before.get(path) !== etag && notice !== this.notice) this.evaluate(path);
    }
  }
}

/** Return a patch for lists that grow, and for other values. */
function differenceOf(before: Body, after: Body): Operation[] {
  const removed = Object.keys(before).filter((key) => !(key in after));
  return [
    ...removed.map((key): Operation => ["delete", [key]]),
    ...Object.entries(after).flatMap(([key, value]): Operation[] => {
      const old = before[key];
      if (JSON.stringify(old) === JSON.stringify(value)) return [];
      if (!Array.isArray(value) || !Array.isArray(old)) return [["set", [key], value]];
      const same = old.findIndex((item, at) => JSON.stringify(item) !== JSON.stringify(value[at]));
      const start = same < 0 ? old.length : same;
      return [["splice", [key], start, old.length - start, value.slice(start)]];
    }),
  ];
}
