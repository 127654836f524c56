/** Markdown as HTML. Exported reports follow the same rules on the same parser, in backend/arcadia_backend/reports/markdown.py. */

import createParser, {
  type Env,
  type MarkdownIt,
  type RendererRule,
  type StateBlock,
  type StateInline,
} from "markdown-it";

/** Longer formulas stay text. */
const MAX_FORMULA = 1_000;

const FORMULA = new RegExp(
  String.raw`\$\$((?:[^$\\]|\\.){1,${MAX_FORMULA}})\$\$|\$(?!\s)((?:[^$\\\`]|\\.){1,${MAX_FORMULA}})(?<!\s)\$(?!\d)`,
  "sy",
);
const WEB = /^https?:\/\//i;
const STORED = /^\/api\/v1\/files\/([1-9][0-9]{0,14})$/;
const DATA = /^data:image\/(?:png|jpeg|gif|webp);base64,/i;

/** Returns the formula as MathML, or null if it is invalid. */
export type Typeset = (latex: string, display: boolean) => string | null;

interface Environment extends Env {
  imageSource: (file: number) => string;
  /** Null until the library is loaded. */
  typeset: Typeset | null;
}

/** Return Markdown as HTML. HTML in it stays text. External images are replaced by their alternative text. */
export function toHtml(markdown: string, environment: Environment): string {
  return PARSER.render(markdown, environment);
}

function parser(): MarkdownIt {
  const made = createParser({ html: false, linkify: false, typographer: false });
  made.set({ maxNesting: 20 });
  made.inline.ruler.after("escape", "formula", inlineFormula);
  made.block.ruler.after("fence", "formula", blockFormula, {
    alt: ["paragraph", "reference", "blockquote", "list"],
  });
  Object.assign(made.renderer.rules, {
    heading_open: heading,
    heading_close: heading,
    link_open: link,
    image,
    table_open: () => '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>\n',
    table_close: () => "</table></div>\n",
    inline_formula: formula,
    block_formula: formula,
  });
  return made;
}

/** Parse `$…$` and `$$…$$` in a line. */
function inlineFormula(state: StateInline, silent: boolean): boolean {
  if (state.src[state.pos] !== "$") return false;
  FORMULA.lastIndex = state.pos;
  const found = FORMULA.exec(state.src);
  if (!found || FORMULA.lastIndex > state.posMax) return false;
  if (!silent) {
    const token = state.push("inline_formula", "math", 0);
    token.markup = found[1] === undefined ? "$" : "$$";
    token.content = (found[1] ?? found[2] ?? "").trim();
  }
  state.pos = FORMULA.lastIndex;
  return true;
}

/** Parse lines that start and end with `$$`. */
function blockFormula(state: StateBlock, first: number, last: number, silent: boolean): boolean {
  const at = (numbers: number[], line: number) => numbers[line] ?? 0;
  const indent = at(state.sCount, first);
  const start = at(state.bMarks, first) + at(state.tShift, first);
  if (indent - state.blkIndent >= 4 || !state.src.startsWith("$$", start)) return false;
  const length = state.src.slice(start + 2, start + 2 + MAX_FORMULA).indexOf("$$");
  const end = start + 2 + length;
  let line = first;
  while (length >= 0 && line < last && at(state.eMarks, line) < end) {
    line += 1;
    if (line < last && at(state.sCount, line) < state.blkIndent) return false;
  }
  if (length < 0 || line >= last || state.src.slice(end + 2, at(state.eMarks, line)).trim()) return false;
  const content = state
    .getLines(first, line + 1, indent, false)
    .trim()
    .slice(2, -2)
    .trim();
  if (!content) return false;
  if (!silent) {
    state.line = line + 1;
    const token = state.push("block_formula", "math", 0);
    Object.assign(token, { block: true, markup: "$$", content, map: [first, line + 1] });
  }
  return true;
}

const of = (environment: Env | undefined) => environment as Environment;

/**
 * Render a heading one level lower, because the page has the only heading of the first level. The highest level of a
 * text is always the second one of the page, so that no level is skipped, and the others follow it.
 */
const heading: RendererRule = (tokens, at) => {
  const { tag = "h1", nesting = 1 } = tokens[at] ?? {};
  const levels = [
    ...new Set(tokens.flatMap(({ type, tag: each }) => (type === "heading_open" ? [each] : []))),
  ];
  const lower = `h${Math.min(levels.sort().indexOf(tag) + 2, 6)}`;
  return nesting === 1 ? `<${lower}>` : `</${lower}>\n`;
};

/** Render a link to the web. Drop other links, which would be broken in the exported file. */
const link: RendererRule = (tokens, at, options, _, renderer) => {
  const token = tokens[at];
  if (!token || !WEB.test(String(token.attrGet("href")))) return "<a>";
  token.attrSet("rel", "noreferrer");
  return renderer.renderToken(tokens, at, options);
};

/** Render an image stored in the installation or in the text, else its alternative text. */
const image: RendererRule = (tokens, at, options, environment, renderer) => {
  const token = tokens[at];
  const source = String(token?.attrGet("src"));
  const text = escaped(renderer.renderInlineAsText(token?.children ?? [], options, environment));
  const stored = STORED.exec(source)?.[1];
  if (stored === undefined && !DATA.test(source)) return text;
  const shown = stored === undefined ? source : of(environment).imageSource(Number(stored));
  return `<img src="${escaped(shown)}" alt="${text}">`;
};

/** Render a formula, or its source if it is invalid. */
const formula: RendererRule = (tokens, at, _, environment) => {
  const { type = "", markup = "", content = "" } = tokens[at] ?? {};
  const shown =
    of(environment).typeset?.(content, markup === "$$") ??
    `<code>${escaped(markup + content + markup)}</code>`;
  return type === "block_formula" ? `<p class="formula">${shown}</p>\n` : shown;
};

const PARSER = parser();
const { escapeHtml: escaped } = PARSER.utils;

/** Return true if the text may contain a formula, which needs the library. */
export const mayHaveFormula = (markdown: string) => (markdown.match(/\$/g) ?? []).length > 1;
