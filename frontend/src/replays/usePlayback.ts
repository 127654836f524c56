import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { isCalm } from "@/ui/isCalm";
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
  /** The shown replays. Playback restarts when they change. */
  shown: string;
  /** Frames per second, if a track is known. */
  rate?: number | undefined;
  /** Initial time of a paused replay. */
  from?: number | null;
}

/** Play the videos of a stage in sync. */
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

/** Return the stage's time in tenths of a second. */
export function useStageTime({ clock }: Ensemble): number {
  return useSyncExternalStore(clock.watch, () => Math.floor(clock.seconds * 10) / 10);
}
