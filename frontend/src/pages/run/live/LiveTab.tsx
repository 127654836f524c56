import { Alert, Anchor, Button, Stack, Text } from "@mantine/core";
import { IconBroadcastOff } from "@tabler/icons-react";
import { useEffect } from "react";
import { Link, useSearchParams } from "react-router";
import { useWatchLive } from "@/api/liveGames";
import type { Run } from "@/api/types";
import { useLookedAt } from "@/stage/useBroadcast";
import { EmptyState } from "@/ui/EmptyState";
import { LiveStage } from "./LiveStage";

/** Tab that shows the run's agent playing live. `?checkpoint=7` chooses a checkpoint, by default the newest. */
export function LiveTab({ run }: { run: Run }) {
  const [search] = useSearchParams();
  const chosen = Number(search.get("checkpoint"));
  const checkpoint = Number.isInteger(chosen) && chosen > 0 ? chosen : "newest";
  const hasBeenVisible = useLookedAt();
  const reason = run.actions.play;
  if (reason) {
    return (
      <EmptyState icon={IconBroadcastOff} title="This agent cannot play here">
        {reason} Its replays are still available.
      </EmptyState>
    );
  }
  if (!hasBeenVisible) return null;
  return <RequestedGame key={checkpoint} run={run} checkpoint={checkpoint} />;
}

function RequestedGame({ run, checkpoint }: { run: Run; checkpoint: number | "newest" }) {
  const { mutate, data: game, error } = useWatchLive(run.id);
  useEffect(() => mutate(checkpoint), [mutate, checkpoint]);
  const requestGame = () => mutate(checkpoint);
  return (
    <Stack gap="sm">
      {checkpoint !== "newest" && (
        <Text size="sm" c="dimmed">
          Playing one checkpoint.{" "}
          <Anchor component={Link} to={`/runs/${run.id}/live`}>
            Watch the newest checkpoint
          </Anchor>
        </Text>
      )}
      {error ? (
        <Alert color="red" variant="light" title="The live game could not be started">
          <Stack gap="xs" align="flex-start">
            <Text size="sm">{error.message}</Text>
            <Button size="xs" variant="default" onClick={requestGame}>
              Try again
            </Button>
          </Stack>
        </Alert>
      ) : game ? (
        <LiveStage key={game.id} run={run} initialGame={game} onRestart={requestGame} />
      ) : (
        <Text c="dimmed">Starting the live game…</Text>
      )}
    </Stack>
  );
}
