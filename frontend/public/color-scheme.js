// Sets the theme before the first paint. A file, because the content security policy forbids inline scripts.
(function () {
  var chosen = null;
  try {
    chosen = window.localStorage.getItem("mantine-color-scheme-value");
  } catch {
    // Storage is blocked: the system's theme is used.
  }
  if (chosen !== "light" && chosen !== "dark") {
    chosen = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.setAttribute("data-mantine-color-scheme", chosen);
})();
