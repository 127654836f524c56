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

/** A refusal of the server, in its own words (RFC 9457). */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly title: string;
  readonly fieldErrors: FieldError[];

  constructor(status: number, problem: Problem) {
    super(problem.detail ?? problem.title ?? `The server answered ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.type = problem.type ?? "about:blank";
    this.title = problem.title ?? "Error";
    this.fieldErrors = problem.errors ?? [];
  }

  /** The message for one field, under its name in the request: "config.num_envs" or, without its prefix, "num_envs". */
  forField(field: string): string | undefined {
    return this.fieldErrors.find((error) => error.field === field || error.field.endsWith(`.${field}`))
      ?.message;
  }
}

/** The server could not be reached at all. */
export class UnreachableError extends Error {
  constructor(cause: unknown, words = "The server cannot be reached. It may be restarting.") {
    super(words, { cause });
    this.name = "UnreachableError";
  }
}

/** Something between answered in the server's place. */
export class NotTheServerError extends UnreachableError {
  constructor() {
    super(
      undefined,
      "Something else answered in the server's place. Is a proxy between that asks to sign in?",
    );
    this.name = "NotTheServerError";
  }
}

/** Whether the server knows of no such thing. */
export const isMissing = (error: unknown) => error instanceof ApiError && error.status === 404;

/** Whether the runs have ended without reporting a metric. */
export const isUnknownMetric = (error: unknown) =>
  error instanceof ApiError && error.type === "/problems/unknown-metric";

/** Whether the server has looked at what it was asked, and does not want it. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status < 500;

export async function problemOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const problem: Problem = JSON.parse(text);
    return new ApiError(response.status, problem);
  } catch {
    return new ApiError(response.status, { detail: plainWords(response.status) });
  }
}

function plainWords(status: number): string {
  if (status === 502 || status === 503 || status === 504) return "The server is away; it may be restarting.";
  return `The server answered ${status} without saying why.`;
}
