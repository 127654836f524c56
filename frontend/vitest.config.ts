import { defineConfig, mergeConfig } from "vitest/config";

import viteConfig from "./vite.config";

// Apart from vite.config.ts, since the build runs where vitest is not installed.
export default mergeConfig(
  viteConfig,
  defineConfig({
    test: {
      environment: "jsdom",
      setupFiles: ["src/testing/setup.ts"],
      restoreMocks: true,
      // Many inputs under a simulated browser take long on a busy machine.
      testTimeout: 30_000,
    },
  }),
);
