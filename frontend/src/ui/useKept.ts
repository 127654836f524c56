import { useEffect, useState } from "react";
import { inTab } from "./kept";

export interface Kept<T> {
  value: T;
  change: (changes: Partial<T>) => void;
  /** Whether the value is one that was left before. */
  restored: boolean;
  beginAnew: () => void;
  /** Keep the value no longer: it has been used. */
  forget: () => void;
  /** Go on with the same value at the next place, which the page is about to show. */
  carryTo: (place: string) => void;
}

interface State<T> {
  /** The place that was last asked for, and the one where the value is kept. */
  asked: string;
  place: string;
  initial: T;
  value: T;
  restored: boolean;
}

/** What is typed into a form, kept by the browser's tab at a place of its own: a reload or a way back loses nothing. */
export function useKept<T extends object>(asked: string, initial: T): Kept<T> {
  const begin = (kept: Partial<T> | null): State<T> => ({
    asked,
    place: asked,
    initial,
    value: { ...initial, ...kept },
    restored: kept !== null,
  });
  const [last, setState] = useState(() => begin(inTab.read<Partial<T>>(asked)));
  let state = last;
  if (last.asked !== asked) {
    state = last.place === asked ? { ...last, asked } : begin(inTab.read<Partial<T>>(asked));
    setState(state);
  }

  const { place, value } = state;
  const isNew = JSON.stringify(value) === JSON.stringify(state.initial);
  useEffect(() => {
    if (isNew) inTab.forget(place);
    else inTab.keep(place, value);
  }, [place, value, isNew]);

  return {
    value,
    change: (changes) => setState((now) => ({ ...now, value: { ...now.value, ...changes } })),
    restored: state.restored,
    beginAnew: () => setState(begin(null)),
    forget: () => inTab.forget(place),
    carryTo(next) {
      if (next !== place) inTab.forget(place);
      setState((now) => ({ ...now, place: next }));
    },
  };
}
