// Folders of src/ from the lowest layer to the highest. A folder imports only from itself and from lower layers.
const LAYERS = [
  ["api"],
  ["ui"],
  ["charts", "config-form", "stage"],
  ["run-actions", "replays"],
  ["pages"],
  ["app"],
];
const ORDER = LAYERS.map((folders) => folders.join(", ")).join(" <- ");

const TEST_FILES = ["**/*.test.*"];
const TESTING_FOLDER = { regex: "^@/testing(/|$)", message: "Only tests import from src/testing." };
const PAGES = {
  regex: "^@/pages(/|$)",
  message: "A page must not import another page. Move shared code to a lower layer.",
};

/** Match relative paths that leave the folder, by the depth of the importing file. */
function relative(depth) {
  return { regex: `^(\\.\\./){${depth}}`, message: "Import from another folder as @/folder/module." };
}

function higherLayers(folder, layer) {
  const others = LAYERS.slice(layer)
    .flat()
    .filter((other) => other !== folder);
  const named = others.map((other) => ({
    regex: `^@/${other}(/|$)`,
    message: `src/${folder} does not import from src/${other}; the order is ${ORDER}.`,
  }));
  return folder === "pages" ? [...named, PAGES] : named;
}

/** Forbid import and import() of these paths. */
function forbid(files, ignores, patterns) {
  const later = patterns.map(({ regex, message }) => ({
    selector: `ImportExpression[source.value=/${regex.replaceAll("/", "\\/")}/]`,
    message,
  }));
  return {
    files: [files],
    ignores,
    rules: {
      "no-restricted-imports": ["error", { patterns }],
      "no-restricted-syntax": ["error", ...later],
    },
  };
}

function rulesOf(folder, layer) {
  const patterns = higherLayers(folder, layer);
  const parent = folder === "pages" ? "pages/*" : folder;
  // Tests follow the same order, and may also import from src/testing.
  return [
    forbid(`src/${parent}/*/**`, [], [...patterns, relative(2)]),
    forbid(`src/${parent}/*`, [], [...patterns, relative(1)]),
    forbid(`src/${parent}/*/**`, TEST_FILES, [...patterns, TESTING_FOLDER, relative(2)]),
    forbid(`src/${parent}/*`, TEST_FILES, [...patterns, TESTING_FOLDER, relative(1)]),
  ];
}

export default LAYERS.flatMap((folders, layer) => folders.flatMap((folder) => rulesOf(folder, layer)));
