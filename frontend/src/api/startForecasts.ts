import { apiQuery } from "./requests";

/** Forecasts of starts of the last days, compared with what happened. */
export const startForecastsQuery = (days: number) =>
  apiQuery(["start-forecasts", days], "/api/v1/start-forecasts", { query: { days } }, { staleTime: 60_000 });
