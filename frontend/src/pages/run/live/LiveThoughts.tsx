import { Text } from "@mantine/core";
import { exact, plural, score, short } from "@/ui/format";
import { ActionBars } from "../replays/ActionBars";
import type { View } from "@/stage/broadcast";
import { Fact, Readout } from "@/stage/Readout";
import classes from "./live.module.css";

/** What the agent thinks now, how the game stands, and who watches. */
export function LiveThoughts({ view, follows }: { view: View; follows: boolean }) {
  const { scene, head } = view;
  if (!scene?.agent || !head) return null;
  const { action_names, agent } = scene;
  const { learnt } = agent;
  return (
    <div className={classes.thoughts}>
      <Readout>
        <Fact is="Score">{score(head.score)}</Fact>
        <Fact is="Value">{head.value === null ? "–" : score(head.value)}</Fact>
        {head.lives >= 0 && <Fact is="Lives">{head.lives}</Fact>}
        <Fact is="Game">{exact(head.game)}</Fact>
        <Fact is="Checkpoint">{short(agent.step)}</Fact>
        <Fact is="Viewers">{exact(view.viewers)}</Fact>
        <Fact is="Delay">{view.delay === null ? "–" : `${Math.ceil(view.delay)} ms`}</Fact>
        {view.latency !== null && <Fact is="Input latency">{`${Math.ceil(view.latency)} ms`}</Fact>}
      </Readout>
      <Text size="sm" role="status">
        {scene.hands === null ? checkpointWords(agent.step, agent.loaded, follows) : "A person plays."}
      </Text>
      {head.numbers.length > 0 && (
        <ActionBars
          thoughts={{ head: { learnt, action_names }, numbers: [head.numbers], action: [head.action ?? -1] }}
          decision={0}
        />
      )}
      <Text size="xs" c="dimmed">
        {plural(scene.pictures_per_second, "picture")} a second. The delay is the way from this page to the
        game and back to the screen; the picture is younger than that.
      </Text>
    </div>
  );
}

function checkpointWords(step: number, loaded: number, follows: boolean): string {
  const at = short(step, "steps");
  if (!follows) return `It plays the checkpoint at ${at}.`;
  if (loaded === 1) return `It plays the newest checkpoint, at ${at}, and takes newer ones over.`;
  return `It took over a newer checkpoint, at ${at}; ${plural(loaded - 1, "change")} since it began.`;
}
