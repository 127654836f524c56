import { useEffect } from "react";

/** Names the browser tab: "Runs · Arcadia". */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Arcadia` : "Arcadia";
  }, [title]);
}
