"use strict";
(() => {
  const read = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const axisColors = () => ({ gridcolor: read("--line"), linecolor: read("--line"), zerolinecolor: read("--line") });
  for (const element of document.querySelectorAll("[data-figure]")) {
    const { data, layout } = JSON.parse(document.getElementById(element.dataset.figure).textContent);
    const axes = Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name));
    const colored = Object.fromEntries(axes.map((name) => [name, { ...layout[name], ...axisColors() }]));
    const look = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: read("--text") }, showlegend: true, margin: { ...layout.margin, t: 16 } };
    Plotly.newPlot(element, data, { ...layout, ...colored, ...look, autosize: true }, { responsive: true, displaylogo: false });
  }
})();
