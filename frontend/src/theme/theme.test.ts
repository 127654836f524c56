import { DEFAULT_THEME, mergeMantineTheme } from "@mantine/core";
import { expect, it } from "vitest";
import { theme } from "./theme";

const merged = mergeMantineTheme(DEFAULT_THEME, theme);

/** Return the relative luminance as defined in WCAG 2. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

it.each(["light", "dark"] as const)("has readable white text on buttons of a %s page", (scheme) => {
  const { primaryShade, colors, primaryColor } = merged;
  const shade = typeof primaryShade === "number" ? primaryShade : primaryShade[scheme];
  const contrast = 1.05 / (luminance(colors[primaryColor]?.[shade] ?? "#ffffff") + 0.05);
  expect(contrast).toBeGreaterThanOrEqual(4.5);
});
