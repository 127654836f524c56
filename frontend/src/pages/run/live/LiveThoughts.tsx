import { Text } from "@mantine/core";
import { exact, plural, score, short } from "@/ui/format";
import { ActionBars } from "@/replays/ActionBars";
import type { View } from "@/stage/broadcast";
import { Fact, Readout } from "@/stage/Readout";
import classes from "@/replays/thoughts.module.css";

/** Score, value, action probabilities and viewers of a live game. */
export function LiveThoughts({ view, follows }: { view: View; follows: boolean }) {
  const { scene, head } = view;
  if (!scene?.agent || !head) return null;
  const { action_names, agent } = scene;
  const { numbers_kind } = agent;
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
        {scene.hands === null
          ? describeCheckpoint(agent.step, agent.loaded, follows)
          : "A person is playing."}
      </Text>
      {head.numbers.length > 0 && (
        <ActionBars
          thoughts={{
            head: { numbers_kind, action_names },
            numbers: [head.numbers],
            action: [head.action ?? -1],
          }}
          decision={0}
        />
      )}
      <Text size="xs" c="dimmed">
        {plural(scene.pictures_per_second, "frame")} per second. The delay is the round trip from this page to
        the game and back.
      </Text>
    </div>
  );
}

function describeCheckpoint(step: number, loaded: number, follows: boolean): string {
  const at = short(step, "steps");
  if (!follows) return `Playing the checkpoint at ${at}.`;
  if (loaded === 1) return `Playing the newest checkpoint, at ${at}. Newer ones replace it.`;
  return `Playing a newer checkpoint, at ${at}, after ${plural(loaded - 1, "change")}.`;
}
