import { useState } from "react";
import { fileAddress } from "@/api/client";
import classes from "./Run.module.css";

interface PosterProps {
  fileId: number | null;
  /** Width and height in CSS pixels. */
  size: number;
  alt: string;
}

/**
 * The latest frame of a game; an empty screen before the first. Enlarging keeps its pixels whole; shrinking averages
 * them, since dropping pixels could drop a ball or a pole.
 */
export function Poster({ fileId, size, alt }: PosterProps) {
  const [enlarged, setEnlarged] = useState(false);
  return (
    <span className={classes.poster} style={{ width: size, height: size }}>
      {fileId !== null && (
        <img
          src={fileAddress(fileId)}
          alt={alt}
          className={enlarged ? "pixelated" : undefined}
          loading="lazy"
          decoding="async"
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setEnlarged(Math.max(naturalWidth, naturalHeight) < size * window.devicePixelRatio)
          }
        />
      )}
    </span>
  );
}
