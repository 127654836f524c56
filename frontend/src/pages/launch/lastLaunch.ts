/** The last launch in this browser. The form starts from it if the URL is empty. */
export interface LastLaunch {
  preset: string | null;
  method: string | null;
  env: string;
}

export const LAST_LAUNCH_KEY = "arcadia-last-launch";
