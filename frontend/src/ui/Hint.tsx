import { Tooltip } from "@mantine/core";
import { useEffect, useState } from "react";

/** Attributes of an element that shows a text on hover. Cheaper than a tooltip in a table with many cells. */
export const hint = (text: string | null | undefined) => (text ? { "data-hint": text } : {});

const OPEN_DELAY_MS = 300;
const MAX_WIDTH = 360;

interface Shown {
  target: HTMLElement;
  text: string;
}

/** Shows the hint of the element under the pointer, with one tooltip for the whole page. */
export function Hints() {
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let target: HTMLElement | null = null;
    function point({ target: under }: Event) {
      const next = under instanceof Element ? under.closest<HTMLElement>("[data-hint]") : null;
      if (next === target) return;
      target = next;
      clearTimeout(timer);
      setShown(null);
      const text = next?.dataset["hint"];
      if (next && text) timer = setTimeout(() => setShown({ target: next, text }), OPEN_DELAY_MS);
    }
    function hide() {
      target = null;
      clearTimeout(timer);
      setShown(null);
    }
    document.addEventListener("pointerover", point);
    document.documentElement.addEventListener("pointerleave", hide);
    window.addEventListener("scroll", hide, { capture: true, passive: true });
    return () => {
      clearTimeout(timer);
      document.removeEventListener("pointerover", point);
      document.documentElement.removeEventListener("pointerleave", hide);
      window.removeEventListener("scroll", hide, { capture: true });
    };
  }, []);
  return (
    shown && (
      <Tooltip key={shown.text} target={shown.target} label={shown.text} opened multiline maw={MAX_WIDTH} />
    )
  );
}
