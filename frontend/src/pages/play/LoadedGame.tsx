import { Button, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import type { PlayedGame } from "@/api/types";
import { useLookedAt } from "@/stage/useBroadcast";
import { QueryError } from "@/ui/QueryError";

interface LoadedGameProps {
  query: UseQueryResult<PlayedGame>;
  /** Address that starts another game. */
  againUrl: string;
  /** Return the stage of the game. `again` is a link that starts another game. */
  stage: (game: PlayedGame, again: ReactNode) => ReactNode;
  /** Return the content below the stage. */
  below: (game: PlayedGame) => ReactNode;
}

/** A live game once it is loaded. Its stage is shown while the page is looked at. */
export function LoadedGame({ query, againUrl, stage, below }: LoadedGameProps) {
  const looked = useLookedAt();
  const again = (
    <Button component={Link} to={againUrl} size="xs" w="fit-content">
      Play again
    </Button>
  );
  if (query.data)
    return (
      <>
        {looked && stage(query.data, again)}
        {below(query.data)}
      </>
    );
  if (!query.isError) return <Text role="status">Loading the game…</Text>;
  return (
    <>
      <QueryError error={query.error} retry={() => void query.refetch()} />
      {again}
    </>
  );
}
