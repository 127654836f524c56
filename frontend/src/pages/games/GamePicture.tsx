import { useReducedMotion } from "@mantine/hooks";
import { IconDeviceGamepad2 } from "@tabler/icons-react";
import { type SyntheticEvent, useState } from "react";
import { fileAddress } from "@/api/client";
import type { GamePicture as Picture } from "@/api/types";
import classes from "./games.module.css";

interface GamePictureProps {
  picture: Picture | null;
  game: string;
  /** True if the replay plays. */
  playing: boolean;
}

/** Replay of a game: a still picture, or the silent video while it plays. */
export function GamePicture({ picture, game, playing }: GamePictureProps) {
  const calm = useReducedMotion();
  const [enlarged, setEnlarged] = useState(false);
  const measure = ({ currentTarget }: SyntheticEvent<HTMLImageElement>) =>
    // Enlarge with sharp pixels, and smooth when shrinking, because dropping pixels could hide a ball.
    setEnlarged(currentTarget.naturalHeight < currentTarget.clientHeight * window.devicePixelRatio);
  const look = enlarged ? "pixelated" : undefined;
  return (
    <div className={classes.screen} data-empty={picture === null || undefined}>
      {picture === null && <IconDeviceGamepad2 size={40} stroke={1.25} aria-hidden />}
      {picture && picture.poster_file_id !== null && (
        <img
          src={fileAddress(picture.poster_file_id)}
          alt={`Frame of ${game} played by run ${picture.run_id}`}
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
