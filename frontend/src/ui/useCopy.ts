import { useEffect, useState } from "react";
import { notifyProblem } from "@/ui/notify";

const SAID_MS = 2000;

/** Put a text on the clipboard; says in a corner if the browser does not let it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers give the clipboard to https and to localhost alone; what is selected may be copied everywhere.
    if (copySelected(text)) return true;
    notifyProblem(new Error("The browser lets this page copy nothing. It may over https."));
    return false;
  }
}

function copySelected(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  const before = document.activeElement;
  // Inside an open dialog, which would take the focus back from elsewhere.
  (before?.parentElement ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    // A browser that has given up this way copies nothing.
    return false;
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  }
}

/** What copies, and whether it has just done so. */
export function useCopy(): { copied: boolean; copy: (text: string) => void } {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const later = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(later);
  }, [copied]);
  return { copied, copy: (text) => void copyText(text).then(setCopied) };
}
