import { Anchor, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearchParams } from "react-router";
import { continuedPlayQuery, useContinueReplay } from "@/api/liveGames";
import { MOMENT, WHAT_IF } from "@/replays/moment";
import { KeptGamesOfReplay } from "@/stage/KeptGames";
import { useLookedAt } from "@/stage/useBroadcast";
import { exact } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import sheet from "@/ui/sheet.module.css";
import { usePageTitle } from "@/ui/usePageTitle";
import { ContinuedStage } from "./ContinuedStage";
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
          again={`${address}?${search}`}
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
  again: string;
}

function LiveGame({ title, replay, id, again }: LiveGameProps) {
  const [search] = useSearchParams();
  const { data: game, ...query } = useQuery(continuedPlayQuery(replay, id));
  const looked = useLookedAt();
  const playAgain = (
    <Button component={Link} to={again} size="xs" w="fit-content">
      Play again
    </Button>
  );
  const back = new URLSearchParams({
    replays: String(replay),
    [MOMENT]: search.get(MOMENT) ?? "0",
    [WHAT_IF]: "",
  });
  return (
    <>
      <Group gap="sm" align="baseline">
        <Title order={1}>{title}</Title>
        {game && (
          <Anchor component={Link} to={`/runs/${game.run_id}/replays?${back}`} size="sm">
            Back to the replay
          </Anchor>
        )}
      </Group>
      {game ? (
        <>
          {looked && <ContinuedStage game={game} again={playAgain} />}
          <KeptGamesOfReplay replay={replay} />
        </>
      ) : query.isError ? (
        <>
          <QueryError error={query.error} retry={() => void query.refetch()} />
          {playAgain}
        </>
      ) : (
        <Text role="status">Loading the game…</Text>
      )}
    </>
  );
}
