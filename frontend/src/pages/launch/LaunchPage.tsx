import { Alert, Anchor, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { environmentsQuery, presetsQuery, runQuery } from "@/api/queries";
import { usePageTitle } from "@/ui/usePageTitle";
import { QueryProblem } from "@/ui/QueryProblem";
import classes from "./launch.module.css";
import { LaunchForm } from "./LaunchForm";
import { startingPoint, startingPointIn } from "./startingPoint";
import { useVariants } from "@/config-form/useVariants";

/**
 * /launch?preset=NAME begins with a preset, ?method=NAME with its defaults, ?like=12 with the configuration of run 12,
 * ?env=ALE/Pong-v5 with a preset in that game.
 */
export default function LaunchPage() {
  usePageTitle("Launch a run");
  const [search, setSearch] = useSearchParams();
  const likeId = Number(search.get("like")) || null;
  const env = search.get("env");
  const { schema, variants } = useVariants();
  const presets = useQuery(presetsQuery);
  const environments = useQuery(environmentsQuery);
  // Read once: a run that goes on learning must not begin the form anew.
  const like = useQuery({ ...runQuery(likeId ?? 0), enabled: likeId !== null });

  const needed = [schema, presets, environments, ...(likeId === null ? [] : [like])];
  const failed = needed.find((query) => query.isError && query.data === undefined);
  const ready = needed.every((query) => query.data !== undefined);

  return (
    <Stack gap="lg" className={classes.sheet}>
      <Title order={1}>Launch a run</Title>
      {likeId !== null && like.data && (
        <Alert variant="light" p="sm" maw={1200}>
          <Text size="sm">
            The same as run {likeId}{" "}
            <Anchor component={Link} to={`/runs/${likeId}`} c="inherit">
              {like.data.name}
            </Anchor>
            , until you change something. Marked is what differs from the nearest preset.
          </Text>
        </Alert>
      )}
      {failed && <QueryProblem error={failed.error} retry={() => void failed.refetch()} />}
      {!failed && !ready && <Text c="dimmed">Loading the form…</Text>}
      {ready && (
        <LaunchForm
          variants={variants}
          presets={presets.data ?? []}
          environments={environments.data ?? []}
          start={
            (env === null ? null : startingPointIn(env, presets.data ?? [], environments.data ?? [])) ??
            startingPoint(
              presets.data ?? [],
              variants,
              { preset: search.get("preset"), method: search.get("method") },
              likeId === null ? undefined : like.data,
            )
          }
          onPreset={(preset) => setSearch({ preset }, { replace: true })}
          onMethod={({ preset, values }) =>
            setSearch(preset === null ? { method: String(values["algorithm"]) } : { preset }, {
              replace: true,
            })
          }
        />
      )}
    </Stack>
  );
}
