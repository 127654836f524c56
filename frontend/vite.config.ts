import react from "@vitejs/plugin-react";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { defineConfig, type Plugin, type Rolldown } from "vite";

const backend = process.env.ARCADIA_BACKEND_URL ?? "http://127.0.0.1:8000";

/** Name of the files with code that several pages share. The bundler appends the names of the pages. */
const SHARED = "part";
const shortName = (name: string) => (name.startsWith(`${SHARED}~`) ? SHARED : name.replace(/\.[^.]*$/, ""));

/** Return a name for a module of the application that the run list and another page import, or null. */
function sharedWithRunsPage(id: string, modules: Rolldown.ChunkingContext): string | null {
  const seen = new Set<string>();
  const visit = (module: string) => {
    // All pages seem to import all of a library that has one index.
    if (seen.has(module) || module.includes("node_modules")) return;
    seen.add(module);
    modules.getModuleInfo(module)?.importers.forEach(visit);
  };
  visit(id);
  const pages = [...seen].filter((module) => /Page\.tsx$/.test(module));
  return pages.length > 1 && pages.some((page) => page.endsWith("/RunsPage.tsx")) ? "common" : null;
}

/** Smaller files are one packet in any form. */
const MIN_COMPRESSED = 1_000;

/** Write a compressed copy of each large file beside it, which the server sends. */
function compressedCopies(): Plugin {
  const forms = {
    gz: (content: Buffer) => promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
    br: (content: Buffer) => promisify(brotliCompress)(content),
  };
  return {
    name: "compressed-copies",
    apply: "build",
    async writeBundle({ dir = "" }, bundle) {
      const files = Object.values(bundle).map((file) => ({
        path: join(dir, file.fileName),
        content: Buffer.from(file.type === "chunk" ? file.code : file.source),
      }));
      const large = files.filter(
        ({ path, content }) => /\.(js|css)$/.test(path) && content.length >= MIN_COMPRESSED,
      );
      await Promise.all(
        large.flatMap(({ path, content }) =>
          Object.entries(forms).map(async ([end, pack]) => writeFile(`${path}.${end}`, await pack(content))),
        ),
      );
    },
  };
}

export default defineConfig({
  plugins: [react(), compressedCopies()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { host: "127.0.0.1", proxy: { "/api": backend } },
  // Plotly is 1.2 MB in its own chunk, which only pages with charts load.
  build: {
    target: "es2022",
    chunkSizeWarningLimit: 1600,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // One file for what every page needs, and one for each set of pages that share further modules.
        codeSplitting: {
          groups: [
            { name: "initial", tags: ["$initial"], priority: 2 },
            { name: sharedWithRunsPage, priority: 1 },
            { name: SHARED, entriesAware: true, minShareCount: 2 },
          ],
        },
        chunkFileNames: ({ name }) => `assets/${shortName(name)}-[hash].js`,
        assetFileNames: ({ names: [name = ""] }) => `assets/${shortName(name)}-[hash][extname]`,
      },
    },
  },
});
