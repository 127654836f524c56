import { MantineProvider, VisuallyHidden } from "@mantine/core";
import { useViewportSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useLocation, useParams, useSearchParams } from "react-router";
import { panelQuery } from "@/api/boards";
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
  if (session.data?.required && !session.data.signed_in) return <SignInFirst />;
  const isPanel = project !== undefined && panel !== undefined;
  return (
    <LiveProvider>
      {isPanel ? <PanelOf project={Number(project)} panel={panel} /> : <FigureOf address={figure ?? ""} />}
    </LiveProvider>
  );
}

/** Browsers send the session only to frames of the same site, so signing in cannot help in others. */
function SignInFirst() {
  const { pathname, search } = useLocation();
  const isFramed = window.self !== window.top;
  return (
    <Words>
      Only people who are signed in to Arcadia see this chart.{" "}
      <a href="/" target="_blank" rel="noreferrer">
        Sign in
      </a>
      , then reload this page.
      {isFramed && (
        <>
          {" "}
          If that does not help, this page belongs to another site:{" "}
          <a href={pathname + search} target="_blank" rel="noreferrer">
            open the chart in Arcadia
          </a>
          .
        </>
      )}
    </Words>
  );
}

function PanelOf({ project, panel }: { project: number; panel: string }) {
  const found = useQuery(panelQuery(project, panel));
  if (found.isPending) return <Words>Loading the chart…</Words>;
  if (!found.data) return <Words>{found.error.message}</Words>;
  return <PanelFigure project={found.data.project} panel={found.data.panel} />;
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
