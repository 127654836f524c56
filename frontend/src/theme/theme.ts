import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

// One accent color, everything else is neutral. Run colors come from the server. States have an icon too.
const accent: MantineColorsTuple = [
  "#edf2fe",
  "#dbe5fd",
  "#b7cafa",
  "#8faaf3",
  "#6b8cec",
  "#4f73e3",
  "#3e63dd",
  "#3451b2",
  "#2a4191",
  "#1d2e66",
];

const dark: MantineColorsTuple = [
  "#d7d9de",
  "#b6b9c0",
  "#9a9ea7",
  "#6f747e",
  "#3d4149",
  "#2f333a",
  "#24272d",
  "#191b20",
  "#131519",
  "#0d0f12",
];

const gray: MantineColorsTuple = [
  "#f8f9fa",
  "#f1f2f4",
  "#e6e8eb",
  "#d8dbdf",
  "#c1c6cc",
  "#9ba1a9",
  "#6b727b",
  "#4b5159",
  "#33383f",
  "#1f2328",
];

export const theme = createTheme({
  primaryColor: "accent",
  // White text on a lighter shade is hard to read.
  primaryShade: 6,
  colors: { accent, dark, gray },
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  spacing: { xs: "8px", sm: "12px", md: "16px", lg: "24px", xl: "32px" },
  headings: {
    fontWeight: "600",
    sizes: { h1: { fontSize: "20px" }, h2: { fontSize: "16px" }, h3: { fontSize: "14px" } },
  },
  defaultRadius: "sm",
  cursorType: "pointer",
  focusRing: "auto",
  autoContrast: true,
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: "sm" }, styles: { label: { fontWeight: 500 } } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
    // In a sentence, color alone does not distinguish a link from other text.
    Anchor: { defaultProps: { underline: "always" } },
    Tooltip: {
      defaultProps: { openDelay: 300, withArrow: false, events: { hover: true, focus: true, touch: true } },
    },
    TextInput: { defaultProps: { size: "sm" } },
    Select: { defaultProps: { size: "sm", comboboxProps: { shadow: "md" } } },
    Modal: {
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.4 },
        // Mantine uses <header>, which would be a second banner on the page.
        attributes: { header: { role: "presentation" } },
      },
    },
    // Mantine adds a focus placeholder that is not a menu item. Without it the first item gets the focus.
    Menu: { defaultProps: { shadow: "md", position: "bottom-end", withInitialFocusPlaceholder: false } },
  },
});

/** Red text with enough contrast. Mantine's red is too faint. */
export const readableRed: CSSVariablesResolver = () => ({
  variables: {},
  light: { "--mantine-color-error": "var(--mantine-color-red-9)" },
  dark: { "--mantine-color-error": "var(--mantine-color-red-4)" },
});
