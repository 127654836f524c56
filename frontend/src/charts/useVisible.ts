import { type RefObject, useEffect, useState, useSyncExternalStore } from "react";

function watchPage(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
}

/** Return true if an element is near the viewport and the tab is visible. */
export function useVisible(element: RefObject<Element | null>): boolean {
  const [near, setNear] = useState(false);
  const pageShown = useSyncExternalStore(watchPage, () => document.visibilityState === "visible");
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const observer = new IntersectionObserver(
      (changes) => setNear(changes.at(-1)?.isIntersecting ?? false),
      { rootMargin: "200px" }, // so that a chart is drawn before it scrolls into view
    );
    observer.observe(target);
    return () => observer.disconnect();
  }, [element]);
  return near && pageShown;
}
