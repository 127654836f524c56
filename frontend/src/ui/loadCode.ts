/** Lazy loading of code that survives short outages and upgrades of the server. */

import { tabStorage } from "./pageStorage";

const RETRY_DELAYS_MS = [500, 2000];
const reloadedFor = (name: string) => `arcadia-reloaded ${name}`;

/** Error for code that could not be loaded after a reload. */
export class CodeMissingError extends Error {
  constructor(cause: unknown) {
    super("The server is unreachable or was upgraded. Reload the page.", { cause });
    this.name = "CodeMissingError";
  }
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Import a module, with two retries. */
export async function importWithRetries<T>(load: () => Promise<T>): Promise<T> {
  for (const delay of RETRY_DELAYS_MS) {
    try {
      return await load();
    } catch {
      await wait(delay);
    }
  }
  return load();
}

/** Return true if the server answers. */
const isReachable = () =>
  fetch("/api/v1/health").then(
    (response) => response.ok,
    () => false,
  );

/**
 * Import the code of a page. If all attempts fail, reload once: after an upgrade the new page names the new files.
 * Throw CodeMissingError if that did not help, or if the server is unreachable: a reload would lose the page.
 */
export async function importPage<T>(
  name: string,
  load: () => Promise<T>,
  reload: () => void = () => window.location.reload(),
): Promise<T> {
  try {
    const page = await importWithRetries(load);
    tabStorage.forget(reloadedFor(name));
    return page;
  } catch (error) {
    const hasReloaded = () => tabStorage.read(reloadedFor(name)) !== null;
    if (hasReloaded() || !(await isReachable())) throw new CodeMissingError(error);
    tabStorage.keep(reloadedFor(name), true);
    // Without storage, as in a frame of another site, the page would reload without end.
    if (!hasReloaded()) throw new CodeMissingError(error);
    reload();
    // Wait for the reload so that nothing replaces the page before it.
    return new Promise<never>(() => undefined);
  }
}
