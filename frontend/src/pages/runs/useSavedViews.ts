import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useSearchParams } from "react-router";
import type { SavedView } from "@/api/types";
import { viewsQuery } from "@/api/views";
import { findView, isViewLink, openedParams, queryToSave, VIEW_PARAM } from "./savedViews";

/** Return the saved views of the project and the opened one. A link with only a view's id or name shows the view. */
export function useSavedViews(project: string | null, defaults: Record<string, string>) {
  const [params, setParams] = useSearchParams();
  const { data: views } = useQuery(viewsQuery(project));
  const reference = params.get(VIEW_PARAM);
  const opened = reference === null ? undefined : findView(views ?? [], reference);
  const isLink = isViewLink(params);
  useEffect(() => {
    if (opened && isLink) setParams((now) => openedParams(opened, now), { replace: true });
  }, [opened, isLink, setParams]);

  const query = queryToSave(params, defaults);
  return {
    views: views ?? [],
    opened,
    /** The id or name in the URL, if there is no such view. */
    missing: views && reference !== null && !opened ? reference : null,
    query,
    isChanged:
      opened !== undefined && !isLink && queryToSave(new URLSearchParams(opened.query), defaults) !== query,
    open: (view: SavedView, options?: { replace: boolean }) =>
      setParams((now) => openedParams(view, now), options),
    /** Leave the opened view, and keep what it shows. */
    close: () =>
      setParams(
        (now) => {
          now.delete(VIEW_PARAM);
          return now;
        },
        { replace: true },
      ),
  };
}

export type SavedViews = ReturnType<typeof useSavedViews>;
