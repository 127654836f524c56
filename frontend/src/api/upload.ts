import { address } from "./client";
import { ForeignResponseError, problemFrom, UnreachableError } from "./problem";

/** Send a file. It may take minutes, so there is no timeout. */
export async function upload<Result>(
  path: string,
  query: Record<string, string>,
  file: File,
): Promise<Result> {
  const headers = { "Content-Type": "application/octet-stream" };
  let response: Response;
  try {
    response = await fetch(address(path, query), { method: "POST", headers, body: file });
  } catch (error) {
    throw new UnreachableError(error, "The upload was interrupted. Import the file again.");
  }
  const content: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemFrom(response.status, content);
  if (content === undefined) throw new ForeignResponseError();
  return content as Result;
}
