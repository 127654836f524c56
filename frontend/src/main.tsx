import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router/dom";
import { prefetchPage } from "@/app/pageData";
import { Providers } from "@/app/Providers";
import { createQueryClient } from "@/app/queryClient";
import { createRouter, preloadLinkedPages } from "@/app/router";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

const client = createQueryClient();
prefetchPage(client, window.location);
preloadLinkedPages();

createRoot(root).render(
  <StrictMode>
    <Providers client={client}>
      <RouterProvider router={createRouter()} />
    </Providers>
  </StrictMode>,
);
