import { createContext } from "react";

/** Start the tour of the pages. Does nothing outside the shell. */
export const TourContext = createContext<() => void>(() => undefined);
