import { ApiError } from "@/api/problem";

/** Why what is shown is not up to date: in the server's own words where it has refused to tell anew. */
export function outdatedWords(error: Error): string {
  return `Not up to date: ${error instanceof ApiError ? error.message : "the server does not answer"}`;
}
