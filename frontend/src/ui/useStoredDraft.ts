import { useEffect, useState } from "react";
import { tabStorage } from "./pageStorage";

export interface Kept<T> {
  value: T;
  change: (changes: Partial<T>) => void;
  /** True if the value was restored. */
  restored: boolean;
  startOver: () => void;
  /** Remove the stored value after use. */
  forget: () => void;
  /** Keep the same value under another key, which the page shows next. */
  carryTo: (place: string) => void;
}

interface State<T> {
  /** The last requested key, and the key of the stored value. */
  asked: string;
  place: string;
  initial: T;
  value: T;
  restored: boolean;
}

/** State of a form field that is stored in the browser tab. It survives a reload and the back button. */
export function useStoredDraft<T extends object>(asked: string, initial: T): Kept<T> {
  const begin = (kept: Partial<T> | null): State<T> => ({
    asked,
    place: asked,
    initial,
    value: { ...initial, ...kept },
    restored: kept !== null,
  });
  const [last, setState] = useState(() => begin(tabStorage.read<Partial<T>>(asked)));
  let state = last;
  if (last.asked !== asked) {
    state = last.place === asked ? { ...last, asked } : begin(tabStorage.read<Partial<T>>(asked));
    setState(state);
  }

  const { place, value } = state;
  const isNew = JSON.stringify(value) === JSON.stringify(state.initial);
  useEffect(() => {
    if (isNew) tabStorage.forget(place);
    else tabStorage.keep(place, value);
  }, [place, value, isNew]);

  return {
    value,
    change: (changes) => setState((now) => ({ ...now, value: { ...now.value, ...changes } })),
    restored: state.restored,
    startOver: () => setState(begin(null)),
    forget: () => tabStorage.forget(place),
    carryTo(next) {
      if (next !== place) tabStorage.forget(place);
      setState((now) => ({ ...now, place: next }));
    },
  };
}
