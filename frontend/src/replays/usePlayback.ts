import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { USUAL_RATE } from "./clock";
import { Ensemble } from "./ensemble";

export const SPEEDS = ["0.25", "0.5", "1", "2", "4"];

export interface Playback {
  ensemble: Ensemble;
  playing: boolean;
  setPlaying: (playing: boolean) => void;
  speed: string;
  setSpeed: (speed: string) => void;
}

interface PlaybackOptions {
  /** Which replays are shown; others begin anew. */
  shown: string;
  /** Pictures per second, where a track tells them. */
  rate?: number | undefined;
  /** The moment to begin at, paused. */
  from?: number | null;
}

const isCalm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Plays the videos of a stage together. */
export function usePlayback({ shown, rate = USUAL_RATE, from = null }: PlaybackOptions): Playback {
  const [ensemble] = useState(() => new Ensemble(from ?? 0));
  const [playing, setPlaying] = useState(() => from === null && !isCalm());
  const [speed, setSpeed] = useState("1");
  const obey = useCallback(() => setPlaying(false), []);

  useEffect(() => ensemble.setRate(rate), [ensemble, rate]);
  useEffect(() => ensemble.setSpeed(Number(speed)), [ensemble, speed]);
  useEffect(() => ensemble.show(shown), [ensemble, shown]);
  useEffect(() => {
    ensemble.whenForbidden(obey);
    if (playing) ensemble.play();
    else ensemble.pause();
  }, [ensemble, playing, obey]);
  useEffect(() => () => ensemble.stop(), [ensemble]);
  return { ensemble, playing, setPlaying, speed, setSpeed };
}

/** The time of the stage, to a tenth of a second. */
export function useStageTime({ clock }: Ensemble): number {
  return useSyncExternalStore(clock.watch, () => Math.floor(clock.seconds * 10) / 10);
}
