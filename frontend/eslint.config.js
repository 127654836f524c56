import js from "@eslint/js";
import prettier from "eslint-config-prettier";
import reactHooks from "eslint-plugin-react-hooks";
import globals from "globals";
import tseslint from "typescript-eslint";
import imports from "./eslint.imports.js";

// The generated API types are parsed but not checked, so that naming it in a list of files causes no warning.
const GENERATED = "src/api/schema.ts";

const RULES = tseslint.config(
  js.configs.recommended,
  tseslint.configs.strict,
  reactHooks.configs.flat.recommended,
  {
    files: ["src/**/*.{ts,tsx}"],
    languageOptions: {
      globals: globals.browser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      eqeqeq: ["error", "smart"],
      "no-console": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unnecessary-type-assertion": "error",
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
    },
  },
  imports,
  { files: ["public/*.js"], languageOptions: { globals: globals.browser, sourceType: "script" } },
  prettier,
);

export default tseslint.config(
  { ignores: ["dist", "node_modules"] },
  RULES.map((rules) => ({ ...rules, ignores: [...(rules.ignores ?? []), GENERATED] })),
  { files: [GENERATED], languageOptions: { parser: tseslint.parser } },
);
