/** What was launched last in this browser: the form begins with it where its address names nothing. */
export interface LastLaunch {
  preset: string | null;
  method: string | null;
  env: string;
}

export const LAST_LAUNCH = "arcadia-last-launch";
