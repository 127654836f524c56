// The rooms of src/ from the lowest layer to the highest. A room imports from itself and from lower layers.
const LAYERS = [["api"], ["ui"], ["charts", "config-form", "run-actions", "stage"], ["pages"], ["app"]];
const ARROWS = LAYERS.map((rooms) => rooms.join(", ")).join(" <- ");

const TESTS = ["**/*.test.*"];
const TESTING = { regex: "^@/testing(/|$)", message: "Only tests import what is made for tests." };
const PAGES = {
  regex: "^@/pages(/|$)",
  message: "A page imports no other page: what two pages need lies below.",
};

/** Paths that leave the room by "../"; from a file directly in its room, or in a folder of it. */
function relative(depth) {
  return { regex: `^(\\.\\./){${depth}}`, message: "Import from another room as @/room/module." };
}

function above(room, layer) {
  const others = LAYERS.slice(layer)
    .flat()
    .filter((other) => other !== room);
  const named = others.map((other) => ({
    regex: `^@/${other}(/|$)`,
    message: `src/${room} does not import from src/${other}; the arrows are ${ARROWS}.`,
  }));
  return room === "pages" ? [...named, PAGES] : named;
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

function rulesOf(room, layer) {
  const patterns = above(room, layer);
  const folder = room === "pages" ? "pages/*" : room;
  // A test obeys the same arrows, and imports from src/testing besides.
  return [
    forbid(`src/${folder}/*/**`, [], [...patterns, relative(2)]),
    forbid(`src/${folder}/*`, [], [...patterns, relative(1)]),
    forbid(`src/${folder}/*/**`, TESTS, [...patterns, TESTING, relative(2)]),
    forbid(`src/${folder}/*`, TESTS, [...patterns, TESTING, relative(1)]),
  ];
}

export default LAYERS.flatMap((rooms, layer) => rooms.flatMap((room) => rulesOf(room, layer)));
