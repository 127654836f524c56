/** Return true if the user prefers reduced motion. Videos then wait for a click. */
export const isCalm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;
