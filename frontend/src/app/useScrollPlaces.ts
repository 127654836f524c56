import { useEffect, useLayoutEffect, useRef } from "react";
import { useLocation, useNavigationType } from "react-router";

/** For so long a page that comes back may grow until the reader's place is there again. */
const GROWS_MS = 3000;
const READERS_OWN = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/** Begin a page that is opened at its top, and on the way back return to where the reader was. */
export function useScrollPlaces(): void {
  const { key, pathname } = useLocation();
  const arrival = useNavigationType();
  const places = useRef(new Map<string, number>());
  const here = useRef({ key, pathname });

  useEffect(() => {
    const kept = history.scrollRestoration;
    history.scrollRestoration = "manual";
    const keep = () => places.current.set(here.current.key, window.scrollY);
    window.addEventListener("scroll", keep, { passive: true });
    return () => {
      history.scrollRestoration = kept;
      window.removeEventListener("scroll", keep);
    };
  }, []);

  useLayoutEffect(() => {
    const before = here.current;
    here.current = { key, pathname };
    const place = places.current.get(key);
    if (arrival === "POP" && place !== undefined) return returnTo(place);
    // A tab, a filter or a zoom is written into the address too, and moves nobody.
    if (arrival === "PUSH" && before.pathname !== pathname) window.scrollTo(0, 0);
    places.current.set(key, window.scrollY);
    return undefined;
  }, [key, pathname, arrival]);
}

/** Scroll to a place, as soon as the page is long enough; returns what gives that up. */
function returnTo(place: number): () => void {
  const reach = () => {
    window.scrollTo(0, place);
    if (Math.abs(window.scrollY - place) < 2) giveUp();
  };
  const growth = new ResizeObserver(reach);
  const timer = setTimeout(giveUp, GROWS_MS);
  function giveUp() {
    growth.disconnect();
    clearTimeout(timer);
    for (const sign of READERS_OWN) window.removeEventListener(sign, giveUp);
  }
  for (const sign of READERS_OWN) window.addEventListener(sign, giveUp, { passive: true });
  growth.observe(document.body);
  reach();
  return giveUp;
}
