import { configure, getConfig } from "@testing-library/react";
import * as React from "react";

let prepared: Document | undefined;

/** Avoid work of the test libraries that no result depends on, but that took a third of the time of the tests. */
export function workFaster(): void {
  // Files share a worker and its document, but each starts with the setup.
  if (prepared === document) return;
  prepared = document;
  cacheComputedStyles();
  shortenIgnoredErrors();
  skipOwnerStacks();
}

/**
 * Compute the style of each kind of element once.
 *
 * jsdom matches every rule with an element and its ancestors, which took most of the time of queries by role.
 * Tests load no stylesheets, so the style depends only on these attributes and on inherited properties.
 */
function cacheComputedStyles(): void {
  const compute = window.getComputedStyle.bind(window);
  const known = new Map<string, CSSStyleDeclaration>();
  window.getComputedStyle = (element) => {
    const own = ATTRIBUTES.map((name) => element.getAttribute(name));
    const key = [element.tagName, ...own, inherited(element)].join("|");
    const style = known.get(key) ?? compute(element);
    known.set(key, style);
    return style;
  };
}

const ATTRIBUTES = ["type", "hidden", "open", "style"];

/** Return the properties that an element may inherit and that tests depend on. */
function inherited(element: Element): string {
  const found: string[] = [];
  for (let each = element.parentElement; each; each = each.parentElement) {
    found.push(...(each.getAttribute("style")?.match(/(visibility|pointer-events)[^;]*/g) ?? []));
  }
  return found.join(";");
}

/** Do not print the page for errors that a wait ignores. The error after its timeout still has the page. */
function shortenIgnoredErrors(): void {
  const { getElementError } = getConfig();
  configure({
    getElementError(message, container) {
      const { _disableExpensiveErrorDiagnostics: ignored } = getConfig() as unknown as Record<
        string,
        unknown
      >;
      if (!ignored) return getElementError(message, container);
      return Object.assign(new Error(message ?? ""), { name: "TestingLibraryElementError" });
    },
  });
}

/** Let React record no stack for each created element. Its development build does that for 10,000 elements a second. */
function skipOwnerStacks(): void {
  const { __CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE: internals } =
    React as unknown as Record<string, object>;
  const recorded = { get: () => Number.POSITIVE_INFINITY, set: () => undefined, configurable: true };
  if (internals) Object.defineProperty(internals, "recentlyCreatedOwnerStacks", recorded);
}
