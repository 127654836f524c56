/** Loading of code that a page needs later: it survives a short outage and an upgrade of the server. */

const RETRY_DELAYS_MS = [500, 2000];
const reloadedFor = (name: string) => `arcadia-reloaded ${name}`;

/** Code that could not be loaded, even after a reload. */
export class CodeMissingError extends Error {
  constructor(cause: unknown) {
    super("The server cannot be reached, or it was upgraded.", { cause });
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

/** Return whether the server answers. */
const isReachable = () =>
  fetch("/api/v1/health").then(
    (response) => response.ok,
    () => false,
  );

/**
 * Import the code of a page. If all tries fail, reload once: after an upgrade the reloaded page names the new files.
 * Raise CodeMissingError if that did not help, or if the server is away: a reload would lose the page.
 */
export async function importPage<T>(
  name: string,
  load: () => Promise<T>,
  reload: () => void = () => window.location.reload(),
): Promise<T> {
  try {
    const page = await importWithRetries(load);
    sessionStorage.removeItem(reloadedFor(name));
    return page;
  } catch (error) {
    if (sessionStorage.getItem(reloadedFor(name)) !== null || !(await isReachable()))
      throw new CodeMissingError(error);
    sessionStorage.setItem(reloadedFor(name), "1");
    reload();
    // The page is leaving; nothing may replace it until then.
    return new Promise<never>(() => undefined);
  }
}
