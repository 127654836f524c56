import { Alert, Anchor, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { environmentsQuery, presetsQuery } from "@/api/configuration";
import { runQuery } from "@/api/runs";
import { studyQuery } from "@/api/studies";
import type { ExecutorName } from "@/api/types";
import type { StartingPoint } from "@/config-form/reference";
import { usePageTitle } from "@/ui/usePageTitle";
import { QueryError } from "@/ui/QueryError";
import { browserStorage } from "@/ui/pageStorage";
import { LAST_LAUNCH_KEY, type LastLaunch } from "./lastLaunch";
import classes from "./launch.module.css";
import { LaunchForm, type LaunchFormProps } from "./LaunchForm";
import { typedNeeds } from "./needs";
import { inEnvironment, startingPoint, startingPointIn } from "./startingPoint";
import { studyStart } from "./study";
import { useVariants } from "@/config-form/useVariants";
import { useUsualProject } from "@/ui/currentProject";

/**
 * Page of the launch form. The URL names its starting point:
 * - /launch: the last launch.
 * - ?preset=NAME: a preset.
 * - ?method=NAME: the defaults of a method.
 * - ?like=12: the configuration of run 12, which changes are compared with.
 * - ?env=ALE/Pong-v5: a preset for that game.
 * - ?study=new: a study from any of these.
 * - ?study=3: a clone of study 3.
 */
export default function LaunchPage() {
  const [search, setSearch] = useSearchParams();
  const likeId = Number(search.get("like")) || null;
  const isStudy = search.has("study");
  const studyId = Number(search.get("study")) || null;
  const env = search.get("env");
  const usual = useUsualProject();
  const title = isStudy ? "New study" : "Launch a run";
  usePageTitle(title);
  const { schema, variants } = useVariants();
  const presets = useQuery(presetsQuery);
  const environments = useQuery(environmentsQuery);
  // Read once, so that updates of a training run do not start the form over.
  const like = useQuery({ ...runQuery(likeId ?? 0), enabled: likeId !== null });
  const study = useQuery({ ...studyQuery(studyId ?? 0), enabled: studyId !== null, staleTime: Infinity });

  const needed = [
    schema,
    presets,
    environments,
    ...(likeId === null ? [] : [like]),
    ...(studyId === null ? [] : [study]),
  ];
  const failed = needed.find((query) => query.isError && query.data === undefined);
  const ready = needed.every((query) => query.data !== undefined);
  const choose = (wanted: Record<string, string>) =>
    setSearch(isStudy ? { study: "new", ...wanted } : wanted, { replace: true });

  function startOfForm(): { start: StartingPoint; clonedStudy: LaunchFormProps["clonedStudy"] } {
    const known = presets.data ?? [];
    if (studyId !== null && study.data) {
      const { start, options } = studyStart(study.data, known, variants);
      const { name, question } = study.data;
      return { start, clonedStudy: { options, details: { name, notes: question } } };
    }
    const named = { preset: search.get("preset"), method: search.get("method") };
    const isNamed = named.preset !== null || named.method !== null;
    const last =
      isNamed || env !== null || likeId !== null ? null : browserStorage.read<LastLaunch>(LAST_LAUNCH_KEY);
    const at = env ?? last?.env ?? null;
    const isKnown = environments.data?.some(({ id }) => id === at) === true;
    const alone = env !== null && !isNamed ? startingPointIn(env, known, environments.data ?? []) : null;
    const found = startingPoint(known, variants, last ?? named, likeId === null ? undefined : like.data);
    const start = alone ?? (at !== null && isKnown && likeId === null ? inEnvironment(found, at) : found);
    return { start: isStudy ? { ...start, typed: { seed: DEFAULT_SEEDS } } : start, clonedStudy: null };
  }

  return (
    <Stack gap="lg" className={classes.sheet}>
      <Title order={1}>{title}</Title>
      {likeId !== null && like.data && (
        <Alert variant="light" p="sm" maw={1200}>
          <Text size="sm">
            The same as run {likeId}{" "}
            <Anchor component={Link} to={`/runs/${likeId}`} c="inherit">
              {like.data.name}
            </Anchor>
            . Changes from this run are marked.
          </Text>
        </Alert>
      )}
      {studyId !== null && study.data && (
        <Alert variant="light" p="sm" maw={1200}>
          <Text size="sm">
            The same as study {studyId}{" "}
            <Anchor component={Link} to={`/studies/${studyId}`} c="inherit">
              {study.data.name}
            </Anchor>
            . Change any field before you start.
          </Text>
        </Alert>
      )}
      {failed && <QueryError error={failed.error} retry={() => void failed.refetch()} />}
      {!failed && !ready && <Text c="dimmed">Loading the form…</Text>}
      {ready && (
        <LaunchForm
          key={isStudy ? `study ${studyId ?? "new"}` : "run"}
          variants={variants}
          presets={presets.data ?? []}
          environments={environments.data ?? []}
          {...startOfForm()}
          isStudy={isStudy}
          where={{
            project: like.data?.project ?? study.data?.project ?? usual,
            executor: (like.data?.executor as ExecutorName) ?? study.data?.specification.executor ?? null,
            jobOptions: (like.data?.job_options ?? study.data?.specification.job_options ?? []).join("\n"),
            needs: typedNeeds(like.data?.needs ?? study.data?.specification.needs),
            isInterruptible: like.data?.interruptible ?? study.data?.specification.interruptible ?? false,
          }}
          onPreset={(preset, env) => {
            const own = presets.data?.find(({ name }) => name === preset)?.config["env"];
            choose({ preset, ...(env !== own && { env }) });
          }}
          onMethod={({ preset, values }, env) =>
            choose({
              ...(preset === null ? { method: String(values["algorithm"]) } : { preset }),
              ...(env !== values["env"] && { env }),
            })
          }
        />
      )}
    </Stack>
  );
}

/** Seeds of a new study: the minimum for a verdict. */
const DEFAULT_SEEDS = "1-3";
