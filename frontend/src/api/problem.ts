export interface FieldError {
  field: string;
  message: string;
}

interface Problem {
  type?: string;
  title?: string;
  detail?: string;
  errors?: FieldError[];
}

/** An error response of the server: a problem document (RFC 9457). */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly title: string;
  readonly fieldErrors: FieldError[];

  constructor(status: number, problem: Problem) {
    super(problem.detail ?? problem.title ?? `The server returned status ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.type = problem.type ?? "about:blank";
    this.title = problem.title ?? "Error";
    this.fieldErrors = problem.errors ?? [];
  }

  /** Return the message for a request field, with or without its prefix: "config.num_envs" or "num_envs". */
  forField(field: string): string | undefined {
    return this.fieldErrors.find((error) => error.field === field || error.field.endsWith(`.${field}`))
      ?.message;
  }
}

/** The server did not respond. */
export class UnreachableError extends Error {
  constructor(cause: unknown, message = "The server cannot be reached. It may be restarting.") {
    super(message, { cause });
    this.name = "UnreachableError";
  }
}

/** Something other than the server responded, such as a proxy. */
export class ForeignResponseError extends UnreachableError {
  constructor() {
    super(undefined, "The response did not come from the server. A proxy may require you to sign in.");
    this.name = "ForeignResponseError";
  }
}

/** Return true if the server found nothing at the address. */
export const isNotFound = (error: unknown) => error instanceof ApiError && error.status === 404;

/** Return true if the runs ended without reporting a metric. */
export const isUnknownMetric = (error: unknown) =>
  error instanceof ApiError && error.type === "/problems/unknown-metric";

/** Return true if the person has to prove again who they are. */
export const isOldSession = (error: ApiError) => error.type === "/problems/sign-in-again";

/** Return true if the server rejected the request, so a retry cannot succeed. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status < 500;

/** Return the error for a response body, which is a problem document or plain text from a proxy. */
export function problemFrom(status: number, body: unknown): ApiError {
  if (typeof body === "object" && body !== null) return new ApiError(status, body);
  if (status === 502 || status === 503 || status === 504)
    return new ApiError(status, { detail: "The server is unavailable. It may be restarting." });
  return new ApiError(status, { detail: `The server returned status ${status} without a reason.` });
}
