import { Anchor, Group, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearchParams } from "react-router";
import { continuedPlayQuery, useContinueReplay } from "@/api/liveGames";
import { MOMENT, WHAT_IF } from "@/replays/moment";
import { KeptGamesOfReplay } from "@/stage/KeptGames";
import { exact } from "@/ui/format";
import sheet from "@/ui/sheet.module.css";
import { usePageTitle } from "@/ui/usePageTitle";
import { ContinuedStage } from "./ContinuedStage";
import { LoadedGame } from "./LoadedGame";
import { StartGame } from "./StartGame";

/** /replays/12/play?decision=130 continues a replay with a human player, at /replays/12/play/5. */
export default function ReplayPlayPage() {
  const { replay = "", id } = useParams();
  const [search] = useSearchParams();
  const decision = Number(search.get("decision"));
  const title = `Play from decision ${exact(decision + 1)}`;
  const address = `/replays/${replay}/play`;
  usePageTitle(title);
  return (
    <Stack className={sheet.sheet} gap="md">
      {id === undefined ? (
        <>
          <Title order={1}>{title}</Title>
          <NewGame
            replay={Number(replay)}
            decision={decision}
            addressOf={(game) => `${address}/${game}?${search}`}
          />
        </>
      ) : (
        <LiveGame
          key={id}
          title={title}
          replay={Number(replay)}
          id={Number(id)}
          againUrl={`${address}?${search}`}
        />
      )}
    </Stack>
  );
}

interface NewGameProps {
  replay: number;
  decision: number;
  addressOf: (id: number) => string;
}

function NewGame({ replay, decision, addressOf }: NewGameProps) {
  const { mutateAsync } = useContinueReplay(replay);
  return <StartGame start={() => mutateAsync(decision)} addressOf={addressOf} />;
}

interface LiveGameProps {
  title: string;
  replay: number;
  id: number;
  /** Address that starts another game. */
  againUrl: string;
}

function LiveGame({ title, replay, id, againUrl }: LiveGameProps) {
  const [search] = useSearchParams();
  const query = useQuery(continuedPlayQuery(replay, id));
  const back = new URLSearchParams({
    replays: String(replay),
    [MOMENT]: search.get(MOMENT) ?? "0",
    [WHAT_IF]: "",
  });
  return (
    <>
      <Group gap="sm" align="baseline">
        <Title order={1}>{title}</Title>
        {query.data && (
          <Anchor component={Link} to={`/runs/${query.data.run_id}/replays?${back}`} size="sm">
            Back to the replay
          </Anchor>
        )}
      </Group>
      <LoadedGame
        query={query}
        againUrl={againUrl}
        stage={(game, again) => <ContinuedStage game={game} again={again} />}
        below={() => <KeptGamesOfReplay replay={replay} />}
      />
    </>
  );
}
