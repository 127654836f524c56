import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";

import viteConfig from "./vite.config";

const PAGES = "src/**/*.test.tsx";
/** Tests that replace modules need their own. All others share them, because importing a page takes a second. */
const REPLACING = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.tsx"))
  .map((file) => `src/${file}`)
  .filter((file) => /vi\.(mock|doMock|resetModules)\(/.test(readFileSync(file, "utf8")));
const pages = {
  environment: "jsdom" as const,
  setupFiles: ["src/testing/setup.ts"],
  // Elements are short-lived. With the default of 16 MB, collecting them took a tenth of the time.
  execArgv: ["--max-semi-space-size=64"],
  alias: {
    "plotly.js-basic-dist-min": fileURLToPath(new URL("./src/testing/plotly.ts", import.meta.url)),
    "plotly.js-cartesian-dist-min": fileURLToPath(new URL("./src/testing/plotly.ts", import.meta.url)),
  },
};

// Separate from vite.config.ts, because the build runs without vitest.
export default mergeConfig(
  viteConfig,
  defineConfig({
    test: {
      restoreMocks: true,
      unstubGlobals: true,
      // By default vitest leaves one core unused.
      maxWorkers: "100%",
      // Typing in a simulated browser is slow on a busy computer.
      testTimeout: 150_000,
      projects: [
        // Tests without a document need no simulated browser, whose setup is slow.
        {
          extends: true,
          test: { name: "plain", environment: "node", isolate: false, include: ["src/**/*.test.ts"] },
        },
        {
          extends: true,
          test: { ...pages, name: "pages", isolate: false, include: [PAGES], exclude: REPLACING },
        },
        { extends: true, test: { ...pages, name: "pages with mocks", include: REPLACING } },
      ],
    },
  }),
);
