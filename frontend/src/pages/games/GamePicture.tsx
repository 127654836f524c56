import { useReducedMotion } from "@mantine/hooks";
import { IconDeviceGamepad2 } from "@tabler/icons-react";
import { type SyntheticEvent, useState } from "react";
import { fileAddress } from "@/api/client";
import type { GamePicture as Picture } from "@/api/types";
import classes from "./games.module.css";

interface GamePictureProps {
  picture: Picture | null;
  game: string;
  /** Whether it moves now. */
  playing: boolean;
}

/** A game's replay: a still picture, and while it plays, silently, the film over it. */
export function GamePicture({ picture, game, playing }: GamePictureProps) {
  const calm = useReducedMotion();
  const [enlarged, setEnlarged] = useState(false);
  const measure = ({ currentTarget }: SyntheticEvent<HTMLImageElement>) =>
    // Enlarged pixels stay whole; shrunk ones are averaged, since dropping some could drop a ball.
    setEnlarged(currentTarget.naturalHeight < currentTarget.clientHeight * window.devicePixelRatio);
  const look = enlarged ? "pixelated" : undefined;
  return (
    <div className={classes.screen} data-empty={picture === null || undefined}>
      {picture === null && <IconDeviceGamepad2 size={40} stroke={1.25} aria-hidden />}
      {picture && picture.poster_file_id !== null && (
        <img
          src={fileAddress(picture.poster_file_id)}
          alt={`Frame of ${game} as run ${picture.run_id} plays it`}
          className={look}
          loading="lazy"
          decoding="async"
          onLoad={measure}
        />
      )}
      {picture && (picture.poster_file_id === null || (playing && !calm)) && (
        <video
          src={fileAddress(picture.file_id)}
          className={look}
          aria-label={`Replay of ${game} by run ${picture.run_id}`}
          autoPlay={playing && !calm}
          muted
          loop
          playsInline
          preload="metadata"
        />
      )}
    </div>
  );
}
