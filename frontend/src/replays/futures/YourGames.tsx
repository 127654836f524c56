import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { futuresResultQuery } from "@/api/futures";
import { keptGamesOfReplayQuery } from "@/api/liveGames";
import type { FuturesSummary, KeptGame } from "@/api/types";
import { KeptList } from "@/stage/KeptGames";
import { capitalize } from "@/ui/format";
import type { PlayableReplay } from "../places";
import { compareWithGames, describeOptions, nameDecision } from "./words";

interface YourGamesProps {
  replay: PlayableReplay;
  /** The simulations of the replay, newest first. */
  list: readonly FuturesSummary[];
  chosen: number | null;
}

/** Kept games that continue a replay, compared with futures of the same decision. */
export function YourGames({ replay, list, chosen }: YourGamesProps) {
  const { data: games = [] } = useQuery(keptGamesOfReplayQuery(replay.id));
  if (games.length === 0) return null;
  const futures = findComparable(list, games, chosen);
  return (
    <section aria-label="Your games from this replay">
      <Title order={3} size="sm" mb={4}>
        Your games from this replay
      </Title>
      {futures && <Comparison futures={futures} games={games} />}
      <KeptList games={games} />
    </section>
  );
}

function Comparison({ futures, games }: { futures: FuturesSummary; games: readonly KeptGame[] }) {
  const { data } = useQuery(futuresResultQuery(futures.id));
  if (!data?.document) return null;
  return (
    <>
      <Text fw={600}>{compareWithGames(data.document, games)}</Text>
      <Text size="xs" c="dimmed">
        Score from {nameDecision(futures.decision)} on, without discount.{" "}
        {capitalize(describeOptions(futures))}.
      </Text>
    </>
  );
}

/** Return the chosen futures, or else the newest, of the decision of a game by the replay's own agent. */
function findComparable(
  list: readonly FuturesSummary[],
  games: readonly KeptGame[],
  chosen: number | null,
): FuturesSummary | undefined {
  const decisions = games.map(({ continued }) => continued?.decision);
  const fitting = list.filter(({ state, decision }) => state === "done" && decisions.includes(decision));
  return (
    fitting.find(({ id }) => id === chosen) ??
    fitting.find(({ first = [], agent_run_id, run_id }) => first.length === 0 && agent_run_id === run_id)
  );
}
