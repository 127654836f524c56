/** Three lines of Python that draw a figure of this server in a notebook; where a sign-in is required, they send the token. */
export function notebookLines(url: string): string {
  return [
    "import json, os, urllib.request, plotly.graph_objects as go",
    `request = urllib.request.Request("${url}", headers={"Authorization": f"Bearer {os.environ.get('ARCADIA_TOKEN')}"})`,
    "go.Figure(json.load(urllib.request.urlopen(request)))",
    "",
  ].join("\n");
}
