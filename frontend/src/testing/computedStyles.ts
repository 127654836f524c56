/**
 * Compute the style of each kind of element once.
 *
 * jsdom matches every rule with an element and its ancestors, which took most of the time of queries by role.
 * Tests load no stylesheets, so the style depends only on these attributes and on inherited properties.
 */
export function cacheComputedStyles(): void {
  const compute = window.getComputedStyle.bind(window);
  const known = new Map<string, CSSStyleDeclaration>();
  window.getComputedStyle = (element) => {
    if (inherits(element)) return compute(element);
    const key = [element.tagName, ...ATTRIBUTES.map((name) => element.getAttribute(name))].join("|");
    const style = known.get(key) ?? compute(element);
    known.set(key, style);
    return style;
  };
}

const ATTRIBUTES = ["type", "hidden", "open", "style"];

/** Return true if an element may inherit a property that tests depend on. */
function inherits(element: Element): boolean {
  for (let each = element.parentElement; each; each = each.parentElement) {
    if (/visibility|pointer-events/.test(each.getAttribute("style") ?? "")) return true;
  }
  return false;
}
