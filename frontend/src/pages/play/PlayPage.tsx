import { Anchor, Group, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { usePlayGame, playQuery } from "@/api/liveGames";
import { gameQuery } from "@/api/games";
import { projectsQuery } from "@/api/projects";
import { KeptGameReview } from "@/replays/review/KeptGameReview";
import { KeptGames } from "@/stage/KeptGames";
import sheet from "@/ui/sheet.module.css";
import { useUsualProject } from "@/ui/currentProject";
import { usePageTitle } from "@/ui/usePageTitle";
import { LoadedGame } from "./LoadedGame";
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
  // The choice depends on the roles of the caller.
  const isLoaded = useQuery(projectsQuery).isFetched;
  const project = useUsualProject();
  if (!isLoaded) return null;
  return <StartGame start={() => mutateAsync(project)} addressOf={(id) => `/games/${slug}/play/${id}`} />;
}

function LiveGame({ slug, id }: { slug: string; id: number }) {
  return (
    <LoadedGame
      query={useQuery(playQuery(slug, id))}
      againUrl={`/games/${slug}/play`}
      stage={(game, again) => <PlayStage game={game} again={again} />}
      below={({ env }) => <KeptGames env={env} Review={KeptGameReview} />}
    />
  );
}
