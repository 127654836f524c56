import { Alert, Anchor, Button, Stack, Text } from "@mantine/core";
import { useEffect } from "react";
import { Link, useSearchParams } from "react-router";
import { useWatchLive } from "@/api/liveGames";
import type { Run } from "@/api/types";
import { useLookedAt } from "@/stage/useBroadcast";
import { LiveStage } from "./LiveStage";

/** /runs/12/live: a worker plays the run's agent now; `?checkpoint=7` plays that one, otherwise the newest. */
export function LiveTab({ run }: { run: Run }) {
  const [search] = useSearchParams();
  const chosen = Number(search.get("checkpoint"));
  const checkpoint = Number.isInteger(chosen) && chosen > 0 ? chosen : "newest";
  const looked = useLookedAt();
  if (!looked) return null;
  return <Watched key={checkpoint} run={run} checkpoint={checkpoint} />;
}

function Watched({ run, checkpoint }: { run: Run; checkpoint: number | "newest" }) {
  const { mutate, data: game, error } = useWatchLive(run.id);
  useEffect(() => mutate(checkpoint), [mutate, checkpoint]);
  const again = () => mutate(checkpoint);
  return (
    <Stack gap="sm">
      {checkpoint !== "newest" && (
        <Text size="sm" c="dimmed">
          One checkpoint plays.{" "}
          <Anchor component={Link} to={`/runs/${run.id}/live`}>
            Watch the newest instead
          </Anchor>
        </Text>
      )}
      {error ? (
        <Alert color="red" variant="light" title="It cannot be watched now">
          <Stack gap="xs" align="flex-start">
            <Text size="sm">{error.message}</Text>
            <Button size="xs" variant="default" onClick={again}>
              Try again
            </Button>
          </Stack>
        </Alert>
      ) : game ? (
        <LiveStage key={game.id} run={run} asked={game} again={again} />
      ) : (
        <Text c="dimmed">Asking for a live game…</Text>
      )}
    </Stack>
  );
}
