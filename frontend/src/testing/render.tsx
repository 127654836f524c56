import { render } from "@testing-library/react";
import { createMemoryRouter, RouterProvider, type RouteObject } from "react-router";
import { Providers } from "@/app/Providers";
import { createQueryClient } from "@/app/queryClient";

/** Render something as the app does: theme, queries and a router that stands at `at`. */
export function renderPage(element: React.ReactElement, { at = "/", routes = [] as RouteObject[] } = {}) {
  const client = createQueryClient();
  client.setDefaultOptions({ queries: { retry: false, networkMode: "always" } });
  const router = createMemoryRouter([{ path: "/", element }, ...routes], { initialEntries: [at] });
  const view = render(
    <Providers client={client}>
      <RouterProvider router={router} />
    </Providers>,
  );
  return { ...view, client, router };
}
