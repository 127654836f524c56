import { MantineProvider, VisuallyHidden } from "@mantine/core";
import { useViewportSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearchParams } from "react-router";
import { boardQuery } from "@/api/boards";
import { LiveProvider } from "@/api/live/LiveProvider";
import { sessionQuery } from "@/api/session";
import type { BoardPanel } from "@/api/types";
import { AddressFigure } from "@/charts/AddressFigure";
import { usePanelAddress } from "@/charts/usePanelAddress";
import { readableRed, theme } from "@/theme/theme";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./embed.module.css";

/** Height of the title and of the space around the chart. */
const OTHER_HEIGHT = 48;
const MIN_HEIGHT = 120;

/** Page with only one live chart, for frames of other pages: a figure, or a panel of a project's board. */
export default function EmbedPage() {
  const [params] = useSearchParams();
  const asked = params.get("theme");
  const scheme = asked === "dark" || asked === "light" ? asked : undefined;
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={readableRed}
      forceColorScheme={scheme}
      defaultColorScheme="auto"
    >
      <main className={classes.page}>
        <VisuallyHidden component="h1">Chart</VisuallyHidden>
        <SignedIn figure={params.get("figure")} />
      </main>
    </MantineProvider>
  );
}

function SignedIn({ figure }: { figure: string | null }) {
  const { project, panel } = useParams();
  usePageTitle("Chart");
  const session = useQuery(sessionQuery);
  if (session.isPending) return <Words>Connecting…</Words>;
  if (session.data?.required && !session.data.signed_in)
    return (
      <Words>
        Only people who are signed in to Arcadia see this chart.{" "}
        <a href="/" target="_blank" rel="noreferrer">
          Sign in
        </a>
        , then reload this page.
      </Words>
    );
  const isPanel = project !== undefined && panel !== undefined;
  return (
    <LiveProvider>
      {isPanel ? <PanelOf project={Number(project)} panel={panel} /> : <FigureOf address={figure ?? ""} />}
    </LiveProvider>
  );
}

function PanelOf({ project, panel }: { project: number; panel: string }) {
  const board = useQuery(boardQuery(project));
  const found = board.data?.panels.find(({ key }) => key === panel);
  if (board.isPending) return <Words>Loading the chart…</Words>;
  if (!board.data) return <Words>{board.error.message}</Words>;
  if (!found) return <Words>This chart is no longer on the board. Copy the embed code of another one.</Words>;
  return <PanelFigure project={board.data.project} panel={found} />;
}

function PanelFigure({ project, panel }: { project: string; panel: BoardPanel }) {
  const { address, problem } = usePanelAddress(project, panel);
  return address ? (
    <FigureOf address={address} title={panel.title} />
  ) : (
    <Words>{problem ?? "Loading the runs…"}</Words>
  );
}

function FigureOf({ address, title }: { address: string; title?: string }) {
  const { height } = useViewportSize();
  if (!address.startsWith("/api/v1/"))
    return <Words>This address has no chart. Use “Copy embed code” in the menu of a chart.</Words>;
  return (
    <AddressFigure
      address={address}
      title={title}
      height={Math.max(MIN_HEIGHT, height - OTHER_HEIGHT)}
      bare
    />
  );
}

function Words({ children }: { children: React.ReactNode }) {
  return <p className={classes.words}>{children}</p>;
}
