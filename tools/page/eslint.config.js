// Rules for the modules of the page; run from the root of the repository, see `make lint`.
import js from "@eslint/js";
import globals from "globals";

export default [
  { files: ["src/localface/apps/web/static/*.js"], ...js.configs.recommended },
  {
    files: ["src/localface/apps/web/static/*.js"],
    languageOptions: { sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: { eqeqeq: "error", "no-var": "error", "prefer-const": "error" },
  },
];
