import { ActionIcon, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import type { Legend, PlotlyHTMLElement } from "plotly.js";
import { useState } from "react";
import { useMayWrite } from "@/api/projects";
import type { Figure } from "@/api/types";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone } from "@/ui/notify";
import { copyText } from "@/ui/useCopy";
import { AddToReport } from "./AddToReport";
import { type Cell, save, saveCsv } from "./csv";
import { embedCode, linkTo } from "./embed";
import type { PlotlyLibrary } from "./plotly";

/** The data of a chart as a table. */
export interface Points {
  header: readonly string[];
  rows: readonly (readonly Cell[])[];
}

interface FigureMenuProps {
  title: string;
  /** Name of saved files without their extension. */
  file: string;
  points: () => Promise<Points>;
  /** The figure from the server, and its address. */
  figure: Figure | undefined;
  address: string;
  /** Path of the page that shows only this chart. */
  embed: string;
  /** Id of the chart on this page, for a link to it. */
  anchor: string;
  drawn: PlotlyHTMLElement | null;
  library: PlotlyLibrary | undefined;
}

/** Menu of a chart: save its image, its points or the figure. */
export function FigureMenu({
  title,
  file,
  points,
  figure,
  address,
  embed,
  anchor,
  drawn,
  library,
}: FigureMenuProps) {
  const picture = useMutation({
    mutationFn: async (format: "png" | "svg") => {
      if (!drawn || !library) return;
      save(`${file}.${format}`, await pictureOf(library, drawn, title, format));
    },
  });
  async function copyLink() {
    if (await copyText(linkTo(anchor))) notifyDone("Link copied. It opens this page at the chart.");
  }
  const saveFigure = ({ data, layout }: Figure) =>
    save(`${file}.json`, new Blob([JSON.stringify({ data, layout })], { type: "application/json" }));
  const table = useMutation({
    mutationFn: async () => {
      const { header, rows } = await points();
      saveCsv(`${file}.csv`, header, rows);
    },
  });
  const [adding, setAdding] = useState(false);
  const failed = picture.isError || table.isError;
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon size={24} aria-label={`Menu of the chart ${title}`}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void copyLink()}>Copy link</Menu.Item>
          <MenuAction label="Save picture (PNG)" disabled={!drawn} onClick={() => picture.mutate("png")} />
          <MenuAction label="Save picture (SVG)" disabled={!drawn} onClick={() => picture.mutate("svg")} />
          <Menu.Item onClick={() => table.mutate()}>Download points (CSV)</Menu.Item>
          <MenuAction
            label="Save figure (Plotly JSON)"
            disabled={!figure}
            onClick={() => figure && saveFigure(figure)}
          />
          {address && (
            <EditorItems address={address} embed={embed} title={title} add={() => setAdding(true)} />
          )}
          {failed && <Menu.Label>Saving failed. Try again.</Menu.Label>}
        </Menu.Dropdown>
      </Menu>
      <AddToReport
        block={{ kind: "chart", address, caption: title.slice(0, 500) }}
        opened={adding}
        onClose={() => setAdding(false)}
      />
    </>
  );
}

/** Items for people who may write. Readers of a shared report have no account, so these are not for them. */
function EditorItems({
  address,
  embed,
  title,
  add,
}: Pick<FigureMenuProps, "embed" | "title"> & { address: string; add: () => void }) {
  const mayWrite = useMayWrite();
  async function copyForNotebook() {
    if (await copyText(notebookLines(`${window.location.origin}${address}`)))
      notifyDone("Code copied. Paste it into a notebook with plotly.");
  }
  async function copyEmbed() {
    if (await copyText(embedCode(window.location.origin, embed, title)))
      notifyDone("Code copied. Paste it into a page whose address ARCADIA_EMBED_ORIGINS lists.");
  }
  if (!mayWrite) return null;
  return (
    <>
      <Menu.Item onClick={() => void copyForNotebook()}>Copy for a notebook</Menu.Item>
      <Menu.Item onClick={() => void copyEmbed()}>Copy embed code</Menu.Item>
      <Menu.Item onClick={add}>Add to report…</Menu.Item>
    </>
  );
}

/** An image cannot scroll, so every name has its row beside the plot. */
const BESIDE: Partial<Legend> = { orientation: "v", x: 1.02, xanchor: "left", y: 1, yanchor: "top" };

/** Return the chart as an image with title and legend, for a paper or a chat. */
async function pictureOf(
  library: PlotlyLibrary,
  drawn: PlotlyHTMLElement,
  title: string,
  format: "png" | "svg",
): Promise<string> {
  const { data, layout } = drawn;
  const margin = { ...layout.margin, t: 40 };
  return library.toImage(
    {
      data,
      layout: { ...layout, margin, title: { text: title }, showlegend: true, legend: BESIDE },
    },
    { format, width: 900, height: 500, scale: format === "png" ? 2 : 1 },
  );
}

/** Return Python code that draws a figure in a notebook. It sends the token from ARCADIA_TOKEN. */
export function notebookLines(url: string): string {
  return [
    "import json, os, urllib.request, plotly.graph_objects as go",
    `request = urllib.request.Request("${url}", headers={"Authorization": f"Bearer {os.environ.get('ARCADIA_TOKEN')}"})`,
    "go.Figure(json.load(urllib.request.urlopen(request)))",
    "",
  ].join("\n");
}
