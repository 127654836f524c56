import { defineConfig, mergeConfig } from "vitest/config";

import viteConfig from "./vite.config";

// Separate from vite.config.ts, because the build runs without vitest.
export default mergeConfig(
  viteConfig,
  defineConfig({
    test: {
      restoreMocks: true,
      // By default vitest leaves one core unused.
      maxWorkers: "100%",
      // Typing in a simulated browser is slow on a busy computer.
      testTimeout: 60_000,
      projects: [
        // Most tests without components need no simulated browser, whose setup is slow. Those that need a document
        // start
        // with @vitest-environment jsdom.
        { extends: true, test: { name: "plain", environment: "node", include: ["src/**/*.test.ts"] } },
        {
          extends: true,
          test: {
            name: "pages",
            isolate: false,
            environment: "jsdom",
            include: ["src/**/*.test.tsx"],
            setupFiles: ["src/testing/setup.ts"],
          },
        },
      ],
    },
  }),
);
