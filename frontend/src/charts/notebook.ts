/** Return Python code that draws a figure in a notebook. It sends the token from ARCADIA_TOKEN. */
export function notebookLines(url: string): string {
  return [
    "import json, os, urllib.request, plotly.graph_objects as go",
    `request = urllib.request.Request("${url}", headers={"Authorization": f"Bearer {os.environ.get('ARCADIA_TOKEN')}"})`,
    "go.Figure(json.load(urllib.request.urlopen(request)))",
    "",
  ].join("\n");
}
