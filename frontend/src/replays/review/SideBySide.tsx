import { Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";
import { fileAddress } from "@/api/client";
import { useEnvironmentFamily } from "@/api/configuration";
import type { Future, Futures } from "@/api/types";
import type { Ensemble } from "../ensemble";
import { SilentVideo } from "../futures/FutureVideos";
import type { Thoughts } from "../track";
import { Transport } from "../Transport";
import { usePlayback } from "../usePlayback";
import classes from "./review.module.css";
import { describeEnd } from "./words";

interface Side {
  role: "Played" | "Better";
  /** The action that these futures begin with. */
  action: string;
  of: Futures;
}

interface SideBySideProps {
  thoughts: Thoughts;
  sides: readonly [Side, Side];
}

/** Futures of two actions in pairs with the same random numbers. All videos play in step. */
export function SideBySide({ thoughts, sides }: SideBySideProps) {
  const { env, frames_per_action, pictures_per_second } = thoughts.head;
  const pixelated = useEnvironmentFamily(env)?.is_pixel_art ?? false;
  const playback = usePlayback({ shown: sides.map(({ of }) => of.id).join() });
  const futures = sides.map(({ of }) => of.document?.futures ?? []) as [Future[], Future[]];
  const pairs = sides[0].of.videos.flatMap((video) => {
    const partner = sides[1].of.videos.find(({ future }) => future === video.future);
    return video.future !== null && partner ? [{ number: video.future, files: [video, partner] }] : [];
  });
  const seconds = (decisions: number) => (decisions * frames_per_action) / pictures_per_second;
  const lengths = pairs.flatMap(({ number }) =>
    futures.map((side) => ({ seconds: seconds(side[number]?.decisions ?? 0) })),
  );
  return (
    <section className={classes.futures} aria-label="Futures side by side">
      <Transport replays={lengths} playback={playback} noun="futures" />
      <ul className={classes.pairs}>
        {pairs.map(({ number, files }) => (
          <li key={number}>
            <Title order={4} size="sm" mb={4}>
              Future {number + 1}
            </Title>
            <div className={classes.pair}>
              {files.map(({ file_id }, side) => {
                const { role = "", action = "" } = sides[side] ?? {};
                const future = futures[side]?.[number];
                return (
                  <figure key={file_id} data-side={role}>
                    <FutureVideo
                      ensemble={playback.ensemble}
                      src={fileAddress(file_id)}
                      label={`Future ${number + 1} with ${action}`}
                      pixelated={pixelated}
                    />
                    <figcaption>
                      <span className={classes.side}>
                        {role}: {action}
                      </span>
                      {future && (
                        <Text component="span" size="xs" c="dimmed" display="block">
                          {describeEnd(future)}
                        </Text>
                      )}
                    </figcaption>
                  </figure>
                );
              })}
            </div>
          </li>
        ))}
      </ul>
      <Text size="xs" c="dimmed" maw={640}>
        Both videos of a pair have the same random numbers, so they differ only by the action. Three pairs are
        examples; the loss is measured with many more.
      </Text>
    </section>
  );
}

interface FutureVideoProps {
  ensemble: Ensemble;
  src: string;
  label: string;
  pixelated: boolean;
}

function FutureVideo({ ensemble, src, label, pixelated }: FutureVideoProps) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => (element.current ? ensemble.join(element.current) : undefined), [ensemble]);
  return <SilentVideo element={element} src={src} label={label} pixelated={pixelated} />;
}
