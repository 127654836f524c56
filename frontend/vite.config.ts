import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const backend = process.env.ARCADIA_BACKEND_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { host: "127.0.0.1", proxy: { "/api": backend } },
  // Plotly is 1.4 MB in its own chunk, which only pages with charts load.
  build: { target: "es2022", chunkSizeWarningLimit: 1600, assetsInlineLimit: 0 },
});
