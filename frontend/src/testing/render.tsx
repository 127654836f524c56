import { render } from "@testing-library/react";
import { createMemoryRouter, RouterProvider, type RouteObject } from "react-router";
import { figureKindsQuery } from "@/api/figures";
import { LiveProvider } from "@/api/live/LiveProvider";
import { Providers } from "@/app/Providers";
import { createQueryClient } from "@/app/queryClient";
import { FIGURE_KINDS } from "./figureKinds";

interface Place {
  /** URL at which the page is opened. */
  at?: string;
  /** The page's route. */
  path?: string;
  /** Other pages that it may link to. */
  routes?: RouteObject[];
  /** True if the page follows the live stream. */
  live?: boolean;
}

/** Render a component with theme, query client, router and optionally the live stream. */
export function renderPage(
  element: React.ReactElement,
  { at = "/", path = "/", routes = [], live = false }: Place = {},
) {
  const client = createQueryClient();
  client.setDefaultOptions({ queries: { retry: false, networkMode: "always" } });
  client.setQueryData(figureKindsQuery.queryKey, FIGURE_KINDS);
  const page = { path, element: live ? <LiveProvider>{element}</LiveProvider> : element };
  const router = createMemoryRouter([page, ...routes], { initialEntries: [at] });
  const view = render(
    <Providers client={client} env="test">
      <RouterProvider router={router} />
    </Providers>,
  );
  return { ...view, client, router };
}

/** A page whose code never loads, as on a slow connection. The previous page stays on the screen. */
export const onItsWay = (path: string): RouteObject => ({
  path,
  lazy: () => new Promise<never>(() => undefined),
});
