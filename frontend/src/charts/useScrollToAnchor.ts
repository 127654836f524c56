import { type RefObject, useEffect } from "react";
import { useLocation } from "react-router";

/** Scroll to an element when it appears, if the address names its id. The page has loaded long before its charts. */
export function useScrollToAnchor(element: RefObject<HTMLElement | null>, id: string): void {
  const { hash } = useLocation();
  const isNamed = decodeURIComponent(hash) === `#${id}`;
  useEffect(() => {
    if (isNamed) element.current?.scrollIntoView({ block: "center" });
  }, [isNamed, element]);
}
