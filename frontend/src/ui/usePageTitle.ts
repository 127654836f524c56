import { useEffect } from "react";

/** Set the title of the browser tab: "Runs · Arcadia". */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Arcadia` : "Arcadia";
  }, [title]);
}
