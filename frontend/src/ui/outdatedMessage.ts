import { ApiError } from "@/api/problem";

/** Return why the shown data is not up to date, with the server's message if it refused the request. */
export function outdatedMessage(error: Error): string {
  return `Out of date: ${error instanceof ApiError ? error.message : "the server does not respond"}`;
}
