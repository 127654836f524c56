import { useCallback, useEffect, useRef } from "react";

/** Tells whether the component that asks is still shown: an answer that comes late must not move the next page. */
export function useStillHere(): () => boolean {
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  return useCallback(() => here.current, []);
}
