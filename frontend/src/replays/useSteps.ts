import { middleOf, pictureAt, USUAL_RATE } from "./clock";
import { decisionAt, type Thoughts } from "./track";
import type { Playback } from "./usePlayback";

/** Steps through a replay by pictures and decisions. All but a click on the chart pause the replay. */
export interface Steps {
  byPicture: (by: number) => void;
  byDecision: (by: number) => void;
  toDecision: (decision: number) => void;
  /** Seek without pausing. */
  toPicture: (picture: number) => void;
}

export function useSteps({ ensemble, setPlaying }: Playback, thoughts: Thoughts | undefined): Steps {
  const rate = thoughts?.head.pictures_per_second ?? USUAL_RATE;
  const last = (thoughts?.head.pictures ?? Infinity) - 1;
  const within = (picture: number, most: number) => Math.max(0, Math.min(picture, most));
  const here = () => within(pictureAt(ensemble.seconds, rate), last);
  const toPicture = (picture: number) => ensemble.seek(middleOf(within(picture, last), rate));

  function stopAt(picture: number) {
    toPicture(picture);
    setPlaying(false);
  }

  const toDecision = (decision: number) => stopAt(thoughts?.picture[decision] ?? 0);
  return {
    toPicture,
    toDecision,
    byPicture: (by) => stopAt(here() + by),
    byDecision: (by) => {
      if (!thoughts) return;
      toDecision(within(decisionAt(thoughts.picture, here()) + by, thoughts.picture.length - 1));
    },
  };
}
