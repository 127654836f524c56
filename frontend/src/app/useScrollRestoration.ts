import { useEffect, useLayoutEffect, useRef } from "react";
import { useLocation, useNavigationType } from "react-router";

/** Time for a page to grow until the saved scroll position exists again. */
const RESTORE_TIMEOUT_MS = 3000;
const USER_EVENTS = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/** Scroll new pages to the top, and restore the scroll position when the user goes back. */
export function useScrollRestoration(): void {
  const { key, pathname } = useLocation();
  const navigationType = useNavigationType();
  const positions = useRef(new Map<string, number>());
  const current = useRef({ key, pathname });

  useEffect(() => {
    const previousMode = history.scrollRestoration;
    history.scrollRestoration = "manual";
    const savePosition = () => positions.current.set(current.current.key, window.scrollY);
    // First of all listeners, since reading the position after one has changed the page would lay it out again.
    window.addEventListener("scroll", savePosition, { capture: true, passive: true });
    return () => {
      history.scrollRestoration = previousMode;
      window.removeEventListener("scroll", savePosition, { capture: true });
    };
  }, []);

  useLayoutEffect(() => {
    const previous = current.current;
    current.current = { key, pathname };
    const position = positions.current.get(key);
    if (navigationType === "POP" && position !== undefined) return restore(position);
    // Tabs, filters and zooms change the URL too. They must not scroll the page.
    if (navigationType === "PUSH" && previous.pathname !== pathname) window.scrollTo(0, 0);
    positions.current.set(key, window.scrollY);
    return undefined;
  }, [key, pathname, navigationType]);
}

/** Scroll to a position as soon as the page is long enough. Return a function that cancels this. */
function restore(position: number): () => void {
  const scrollToPosition = () => {
    window.scrollTo(0, position);
    if (Math.abs(window.scrollY - position) < 2) cancel();
  };
  const observer = new ResizeObserver(scrollToPosition);
  const timer = setTimeout(cancel, RESTORE_TIMEOUT_MS);
  function cancel() {
    observer.disconnect();
    clearTimeout(timer);
    for (const event of USER_EVENTS) window.removeEventListener(event, cancel);
  }
  for (const event of USER_EVENTS) window.addEventListener(event, cancel, { passive: true });
  observer.observe(document.body);
  scrollToPosition();
  return cancel;
}
