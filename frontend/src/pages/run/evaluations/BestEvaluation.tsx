import { Anchor, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { evaluationsQuery } from "@/api/evaluations";
import type { Run } from "@/api/types";
import { score } from "@/ui/format";
import { formatMean, describePlayed } from "./words";

/** The run's best evaluation score by its own protocol. Empty before the first. */
export function BestEvaluation({ run }: { run: Run }) {
  const { data } = useInfiniteQuery(evaluationsQuery(run.id));
  const best = data?.pages[0]?.best;
  if (!best) return null;
  return (
    <div>
      <dt>Best evaluation</dt>
      <dd>
        <Anchor
          component={Link}
          to={`/runs/${run.id}/evaluations/${best.id}`}
          inherit
          title={formatMean(best)}
        >
          {score(best.mean)}
        </Anchor>
        <Text size="xs" c="dimmed" style={{ whiteSpace: "normal" }}>
          {describePlayed(best)}
        </Text>
      </dd>
    </div>
  );
}
