import { Anchor, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { usePlayGame, playQuery } from "@/api/liveGames";
import { gameQuery } from "@/api/games";
import { KeptGames } from "@/stage/KeptGames";
import { useLookedAt } from "@/stage/useBroadcast";
import { QueryError } from "@/ui/QueryError";
import sheet from "@/ui/sheet.module.css";
import { usePageTitle } from "@/ui/usePageTitle";
import { PlayStage } from "./PlayStage";
import { StartGame } from "./StartGame";

/** /games/pong/play starts a game for a human player. Others can watch it at /games/pong/play/5. */
export default function PlayPage() {
  const { slug = "", id } = useParams();
  const { data } = useQuery(gameQuery(slug));
  const name = data?.name ?? slug;
  usePageTitle(`Play ${name}`);
  return (
    <Stack className={sheet.sheet} gap="md">
      <Group gap="sm" align="baseline">
        <Title order={1}>{`Play ${name}`}</Title>
        <Anchor component={Link} to={`/games/${slug}`} size="sm">
          Scores of {name}
        </Anchor>
      </Group>
      {id === undefined ? <NewGame slug={slug} /> : <LiveGame key={id} slug={slug} id={Number(id)} />}
    </Stack>
  );
}

function NewGame({ slug }: { slug: string }) {
  const { mutateAsync } = usePlayGame(slug);
  return <StartGame start={() => mutateAsync()} addressOf={(id) => `/games/${slug}/play/${id}`} />;
}

function LiveGame({ slug, id }: { slug: string; id: number }) {
  const game = useQuery(playQuery(slug, id));
  const looked = useLookedAt();
  const again = (
    <Button component={Link} to={`/games/${slug}/play`} size="xs" w="fit-content">
      Play again
    </Button>
  );
  if (game.data) {
    return (
      <>
        {looked && <PlayStage game={game.data} again={again} />}
        <KeptGames env={game.data.env} />
      </>
    );
  }
  if (!game.isError) return <Text role="status">Loading the game…</Text>;
  return (
    <>
      <QueryError error={game.error} retry={() => void game.refetch()} />
      {again}
    </>
  );
}
