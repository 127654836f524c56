import { useEffect, useState } from "react";
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
  return (
    <span className={classes.poster} style={{ width: size, height: size }}>
      {fileId !== null && <Picture key={fileId} fileId={fileId} size={size} alt={alt} />}
    </span>
  );
}

/** How long after each failure to load it a picture is fetched again. */
const RETRY_MS = [1000, 5000, 30_000];

function Picture({ fileId, size, alt }: PosterProps & { fileId: number }) {
  const [enlarged, setEnlarged] = useState(false);
  const [failures, setFailures] = useState(0);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const wait = failures > attempt ? RETRY_MS[attempt] : undefined;
    if (wait === undefined) return;
    const timer = setTimeout(() => setAttempt(failures), wait);
    return () => clearTimeout(timer);
  }, [failures, attempt]);
  return (
    <img
      key={attempt}
      src={fileAddress(fileId)}
      onError={() => setFailures(attempt + 1)}
      alt={alt}
      className={enlarged ? "pixelated" : undefined}
      loading="lazy"
      decoding="async"
      onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
        setEnlarged(Math.max(naturalWidth, naturalHeight) < size * window.devicePixelRatio)
      }
    />
  );
}
