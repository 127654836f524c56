import { useCallback, useEffect, useRef } from "react";

/** Return a function that reports if the component is still mounted. A late response must not change the next page. */
export function useIsMounted(): () => boolean {
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  return useCallback(() => here.current, []);
}
