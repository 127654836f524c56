import { useEffect, useState } from "react";
import { notifyProblem } from "@/ui/notify";

const COPIED_MS = 2000;

/** Copy text to the clipboard. Show a notification if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard API needs https or localhost. Copying a selection works everywhere.
    if (copySelected(text)) return true;
    notifyProblem(
      new Error(
        "The browser does not allow this page to copy. Select and copy the text yourself, or use https.",
      ),
    );
    return false;
  }
}

function copySelected(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  const before = document.activeElement;
  // Add it inside an open dialog, which would take the focus back otherwise.
  (before?.parentElement ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    // Some browsers no longer support this.
    return false;
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  }
}

/** Return a copy function, and true shortly after a copy. */
export function useCopy(): { copied: boolean; copy: (text: string) => void } {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const later = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(later);
  }, [copied]);
  return { copied, copy: (text) => void copyText(text).then(setCopied) };
}
