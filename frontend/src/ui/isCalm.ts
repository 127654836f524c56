/** Return true if the system asks for little motion. Videos then wait for a click. */
export const isCalm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;
