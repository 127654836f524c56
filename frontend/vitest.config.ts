import { defineConfig, mergeConfig } from "vitest/config";

import viteConfig from "./vite.config";

// Apart from vite.config.ts, since the build runs where vitest is not installed.
export default mergeConfig(
  viteConfig,
  defineConfig({
    test: {
      restoreMocks: true,
      // Vitest would leave one core free, which nobody else uses while the tests run.
      maxWorkers: "100%",
      // Many inputs under a simulated browser take long on a busy machine.
      testTimeout: 60_000,
      projects: [
        // A simulated browser takes more time to set up than most tests without elements do. One of them that needs
        // a document says so in its first line: @vitest-environment jsdom.
        { extends: true, test: { name: "plain", environment: "node", include: ["src/**/*.test.ts"] } },
        {
          extends: true,
          test: {
            name: "pages",
            environment: "jsdom",
            include: ["src/**/*.test.tsx"],
            setupFiles: ["src/testing/setup.ts"],
          },
        },
      ],
    },
  }),
);
