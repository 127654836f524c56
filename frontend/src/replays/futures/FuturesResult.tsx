import { Badge, Group, NativeSelect, Progress, Stack, Text, Title, VisuallyHidden } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { futuresKeys, futuresResultQuery } from "@/api/futures";
import { isUnfinished, useDeleteJob } from "@/api/jobs";
import type { ActionFutures, Challenge, Figure, Futures, FuturesDocument, FuturesSummary } from "@/api/types";
import type { Zoom } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";
import { Fact, Readout } from "@/stage/Readout";
import { DataTable } from "@/ui/DataTable";
import { decimalsFor, exact, formatDecimals, formatInterval, plural, score } from "@/ui/format";
import { CancelJob, WaitReason } from "@/ui/JobControls";
import { NoPlayer } from "@/ui/NoPlayer";
import { QueryError } from "@/ui/QueryError";
import { Reason } from "@/ui/Reason";
import type { PlayableReplay } from "../places";
import { type Domain, domainOf, placeOn } from "../scale";
import { describeReturns, drawReturns, drawScores, drawSurvival } from "./figures";
import { FutureVideos, type Original } from "./FutureVideos";
import {
  conclude,
  describeAgent,
  describeChallenge,
  describeLostLives,
  findBetter,
  formatEstimate,
  isByAnother,
  nameDecision,
  nameForComparison,
  summarize,
} from "./words";
import thoughts from "../thoughts.module.css";
import classes from "./futures.module.css";

interface FuturesResultProps {
  replay: PlayableReplay;
  futures: FuturesSummary;
  original: Original;
  /** Other futures of the same decision. */
  others: readonly FuturesSummary[];
  /** Name of the action that the agent took at the decision. */
  taken: string | undefined;
}

/** The progress of futures, their result, or why they failed. */
export function FuturesResult(props: FuturesResultProps) {
  const { replay, futures } = props;
  if (isUnfinished(futures)) return <UnderWay replay={replay} futures={futures} />;
  if (futures.state !== "done")
    return (
      <Stack gap={4} role="status">
        <Text size="sm" fw={600}>
          The simulation from {nameDecision(futures.decision)}{" "}
          {futures.state === "cancelled" ? "was cancelled" : "failed"}
        </Text>
        <Reason of={futures} />
      </Stack>
    );
  return <Loaded {...props} />;
}

function Loaded(props: FuturesResultProps) {
  const { data, error, refetch } = useQuery(futuresResultQuery(props.futures.id));
  if (data?.document) return <Result {...props} document={data.document} videos={data.videos} />;
  if (error) return <QueryError error={error} retry={() => void refetch()} />;
  return (
    <Text size="sm" c="dimmed" role="status">
      Loading the result…
    </Text>
  );
}

function UnderWay({ replay, futures }: Pick<FuturesResultProps, "replay" | "futures">) {
  const { decision, state, done, total } = futures;
  const percent = Math.round((100 * done) / Math.max(1, total));
  const cancel = useDeleteJob("futures", [futuresKeys.list(replay)]);
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap" justify="space-between">
        <WaitReason job={futures}>
          Simulating from {nameDecision(decision)}, {percent} % done
        </WaitReason>
        <CancelJob job={futures} mutation={cancel} aria-label="Cancel simulation" />
      </Group>
      <Progress value={percent} animated={state === "running"} aria-label="Progress of the simulation" />
      {state === "queued" && <NoPlayer />}
    </Stack>
  );
}

interface ResultProps extends FuturesResultProps {
  document: FuturesDocument;
  videos: Futures["videos"];
}

function Result({ replay, futures, original, others, document, videos, taken }: ResultProps) {
  const [against, setAgainst] = useState<FuturesSummary | null>(null);
  const { data } = useQuery({ ...futuresResultQuery(against?.id ?? 0), enabled: against !== null });
  const other =
    against && data?.document
      ? { id: against.id, name: nameForComparison(against), of: data.document }
      : null;
  const finished = others.filter(({ state }) => state === "done");
  const { score_fan: fan, survival, gamma, clip_rewards } = document;
  const mayEnd = survival.some((share) => share < 1);
  return (
    <>
      <Text>
        {summarize(document, isByAnother(futures, replay) ? describeAgent(futures) : null)}{" "}
        <strong>{conclude(document)}</strong>
      </Text>
      <Facts futures={futures} document={document} />
      {videos.length > 0 && <FutureVideos videos={videos} document={document} original={original} />}
      {finished.length > 0 && (
        <NativeSelect
          label="Compare with"
          size="xs"
          data={[
            { value: "", label: "Nothing" },
            ...finished.map((each) => ({ value: String(each.id), label: nameForComparison(each) })),
          ]}
          value={against?.id ?? ""}
          onChange={({ currentTarget: { value } }) =>
            setAgainst(finished.find(({ id }) => String(id) === value) ?? null)
          }
        />
      )}
      {other && (
        <Text size="sm">
          {other.name}: {plural(other.of.count, "future")} average {formatEstimate(other.of)}, V ={" "}
          {score(other.of.value)}.
        </Text>
      )}
      <div className={classes.charts}>
        <FuturesChart
          of={futures}
          title="Discounted returns"
          label={describeReturns(document)}
          legend
          figure={drawReturns(document, other)}
          against={other?.id}
        />
        {fan.length > 1 && (
          <FuturesChart
            of={futures}
            title="Score over time"
            label={`Quantiles of the score over ${plural(fan.length, "decision")}.`}
            legend
            figure={drawScores(fan, other)}
            against={other?.id}
          />
        )}
        {mayEnd && (
          <FuturesChart
            of={futures}
            title="No life lost and not over"
            label={`Share of futures without a lost life over ${plural(survival.length, "decision")}.`}
            figure={drawSurvival(survival)}
          />
        )}
      </div>
      {document.actions.length > 0 && (
        <ActionTable actions={document.actions} challenge={document.challenge ?? null} taken={taken} />
      )}
      <Text size="xs" c="dimmed">
        Returns: rewards{clip_rewards ? " clipped to ±1," : ""} discounted by γ = {gamma}. “Ended” returns
        reach a terminal state. “Bootstrapped” returns end with the agent's value estimate. Band: 95 %
        interval of the mean.
      </Text>
    </>
  );
}

function Facts({ futures, document }: Pick<ResultProps, "futures" | "document">) {
  const { terminal, bootstrapped, score: total } = document;
  const lost = describeLostLives(document);
  return (
    <div className={classes.facts}>
      <Readout>
        <Fact is="Decision">{exact(futures.decision + 1)}</Fact>
        <Fact is="Agent">{describeAgent(futures)}</Fact>
        {futures.temperature !== 1 && <Fact is="Temperature">{futures.temperature}</Fact>}
        <Fact is="Score from here">{formatEstimate(total)}</Fact>
        {terminal.count > 0 && (
          <Fact is="Ended">
            {terminal.count}, mean {score(terminal.mean)}
          </Fact>
        )}
        {bootstrapped.count > 0 && (
          <Fact is="Bootstrapped">
            {bootstrapped.count}, mean {score(bootstrapped.mean)}
          </Fact>
        )}
        {lost && <Fact is="Lost a life">{lost}</Fact>}
      </Readout>
    </div>
  );
}

interface FuturesChartProps {
  of: FuturesSummary;
  title: string;
  label: string;
  legend?: boolean;
  figure: Figure;
  /** Id of the futures that are also drawn. */
  against?: number | undefined;
}

/** A small chart of futures, drawn from their result. */
function FuturesChart({ of, title, label, legend = false, figure, against }: FuturesChartProps) {
  const [zoom, setZoom] = useState<Zoom | null>(null);
  return (
    <FigureFrame
      bare
      title={title}
      label={label}
      query={queryOptions({
        queryKey: ["futures-figure", of.id, title, against],
        queryFn: () => figure,
        staleTime: Infinity,
      })}
      zoom={zoom}
      onZoom={setZoom}
      revision={`${of.id} ${against ?? ""}`}
      legend={legend}
      height={260}
      empty="No finite returns to show."
    />
  );
}

interface ActionTableProps {
  actions: readonly ActionFutures[];
  /** Test of the action with the best futures. Null for futures of earlier versions. */
  challenge: Challenge | null;
  /** Name of the action that the agent took. */
  taken: string | undefined;
}

/** Futures of each action forced first, next to the policy's probability or the Q-value. */
function ActionTable({ actions, challenge, taken }: ActionTableProps) {
  const hasValues = actions.some(({ action_value }) => action_value !== null);
  const better = findBetter(challenge);
  const domain = domainOf(actions.flatMap(({ interval, mean }) => [...(interval ?? []), mean ?? NaN]));
  return (
    <section aria-label="Each action first">
      <Title order={3} size="sm" mb={4}>
        Each action first
      </Title>
      <DataTable
        label="Table of actions"
        frameClass={classes.actions}
        verticalSpacing={4}
        horizontalSpacing={6}
        rows={actions}
        rowKey={({ name }) => name}
        rowProps={({ name }) => ({ "data-taken": name === taken || undefined })}
        columns={[
          {
            title: "Action",
            cell: ({ name }) => <ActionName name={name} taken={name === taken} better={name === better} />,
          },
          {
            title: hasValues ? "Q-value" : "Policy",
            numeric: true,
            cell: ({ probability, action_value }) =>
              probability === null ? score(action_value) : `${(probability * 100).toFixed(1)} %`,
          },
          {
            title: "Mean",
            numeric: true,
            cell: ({ mean }) => formatDecimals(mean, decimalsFor(domain[1] - domain[0])),
          },
          {
            title: "95 % interval",
            help: `Scale from ${formatInterval(domain)}`,
            headProps: { className: classes.interval },
            cell: (action) => <Interval action={action} domain={domain} />,
          },
        ]}
      />
      {challenge && (
        <Text size="sm" mt={4}>
          {describeChallenge(challenge)}
        </Text>
      )}
    </section>
  );
}

function ActionName({ name, taken, better }: { name: string; taken: boolean; better: boolean }) {
  return (
    <>
      <span className={thoughts.mark} aria-hidden>
        {taken ? "▸" : ""}
      </span>
      {name}
      {taken && <VisuallyHidden>, taken</VisuallyHidden>}
      {better && (
        <Badge
          size="xs"
          ml={4}
          tt="none"
          title="Shown by fresh pairs of futures; wrong in at most 5 % of tests"
        >
          better
        </Badge>
      )}
    </>
  );
}

interface IntervalProps {
  action: ActionFutures;
  domain: Domain;
}

function Interval({ action: { mean, interval }, domain }: IntervalProps) {
  if (!interval || mean === null) return "–";
  const text = formatInterval(interval, decimalsFor(domain[1] - domain[0]));
  const [left, right] = interval.map((end) => placeOn(domain, end)) as [number, number];
  return (
    <div className={thoughts.track} title={text}>
      <VisuallyHidden>{text}</VisuallyHidden>
      <span
        className={thoughts.bar}
        style={{ left: `${left * 100}%`, width: `max(2px, ${(right - left) * 100}%)` }}
      />
      <span className={thoughts.mean} style={{ left: `${placeOn(domain, mean) * 100}%` }} />
    </div>
  );
}
