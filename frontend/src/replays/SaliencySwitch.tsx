import { Group, SegmentedControl, Text, Tooltip } from "@mantine/core";
import { isUnfinished } from "@/api/jobs";
import { useDeleteSaliency, useRequestSaliency } from "@/api/replays";
import type { Saliency } from "@/api/types";
import { BlockableButton } from "@/ui/BlockableButton";
import { CancelJob, WaitReason } from "@/ui/JobControls";
import { TextWithCode } from "@/ui/TextWithCode";
import type { PlayableReplay } from "./places";
import type { SaliencyShown } from "./saliency";
import { useSaliencies, useSaliencyState } from "./useSaliency";

interface SaliencySwitchProps {
  replay: PlayableReplay;
  shown: SaliencyShown;
  setShown: (shown: SaliencyShown) => void;
  /** Reason why saliency is unavailable. */
  blocked: string | null;
}

const WHAT_IT_IS =
  "Blurs each part of the network's input and shows where that changes the output: " +
  "blue for the policy, red for the value (Greydanus et al. 2018)";

/** Switch for the saliency overlay, or a button to compute it. */
export function SaliencySwitch({ replay, shown, setShown, blocked }: SaliencySwitchProps) {
  const { data } = useSaliencyState(replay);
  return (
    <Group gap={8}>
      <Tooltip label={WHAT_IT_IS} multiline maw={320}>
        <Text size="xs" c="dimmed" id="saliency" tabIndex={0}>
          Saliency
        </Text>
      </Tooltip>
      {data?.state === "done" ? (
        <Choice replay={replay} shown={shown} setShown={setShown} />
      ) : data && isUnfinished(data) ? (
        <UnderWay saliency={data} />
      ) : (
        <Ask replay={replay} blocked={blocked} setShown={setShown} failed={data} />
      )}
    </Group>
  );
}

function Choice({ replay, shown, setShown }: Omit<SaliencySwitchProps, "blocked">) {
  const { data, isError, error } = useSaliencies(replay);
  const places: { value: SaliencyShown; label: string }[] = [
    { value: "off", label: "Off" },
    // A method without a policy has action values instead.
    { value: "policy", label: data?.numbersKind === "values" ? "Q-values" : "Policy" },
    { value: "value", label: "Value" },
    { value: "both", label: "Both" },
  ];
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-labelledby="saliency"
        data={places}
        value={shown}
        onChange={setShown}
      />
      {isError && <Text size="xs">{error.message}</Text>}
    </>
  );
}

function UnderWay({ saliency }: { saliency: Saliency }) {
  const { run_id, replay_id, state, done, total } = saliency;
  const remove = useDeleteSaliency(run_id);
  return (
    <>
      <WaitReason job={saliency} size="xs">
        Computing, {Math.floor((100 * done) / Math.max(1, total))} %
      </WaitReason>
      <CancelJob
        job={{ id: replay_id, state }}
        mutation={remove}
        size="compact-xs"
        aria-label="Cancel saliency"
      />
    </>
  );
}

interface AskProps extends Omit<SaliencySwitchProps, "shown"> {
  failed: Saliency | undefined;
}

function Ask({ replay, blocked, setShown, failed }: AskProps) {
  const ask = useRequestSaliency(replay.run_id);
  const compute = () => ask.mutate(replay.id, { onSuccess: () => setShown("both") });
  return (
    <>
      <BlockableButton
        blocked={blocked ?? replay.actions.saliency}
        tooltip="Computed by a worker. This can take several times the length of the replay"
        size="compact-xs"
        variant="default"
        loading={ask.isPending}
        onClick={compute}
      >
        {failed ? "Compute again" : "Compute"}
      </BlockableButton>
      {failed?.reason && (
        <Text size="xs" role="status">
          <TextWithCode>{failed.reason}</TextWithCode>
        </Text>
      )}
    </>
  );
}
