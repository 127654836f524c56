import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router/dom";
import { figureKindsQuery } from "@/api/figures";
import { Providers } from "@/app/Providers";
import { createQueryClient } from "@/app/queryClient";
import { createRouter } from "@/app/router";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

const client = createQueryClient();
// Early, because titles and zooms of charts depend on it.
void client.prefetchQuery(figureKindsQuery);

createRoot(root).render(
  <StrictMode>
    <Providers client={client}>
      <RouterProvider router={createRouter()} />
    </Providers>
  </StrictMode>,
);
