import { useEffect, useState } from "react";
import { fileAddress } from "@/api/client";
import classes from "./Run.module.css";

interface ThumbnailProps {
  fileId: number | null;
  /** Width and height in CSS pixels. */
  size: number;
  alt: string;
}

/**
 * Latest frame of a game, or an empty screen. Enlarged frames have sharp pixels. Shrunk frames are smoothed, because
 * dropping pixels could hide a ball or a pole.
 */
export function Thumbnail({ fileId, size, alt }: ThumbnailProps) {
  return (
    <span className={classes.poster} style={{ width: size, height: size }}>
      {fileId !== null && <Picture key={fileId} fileId={fileId} size={size} alt={alt} />}
    </span>
  );
}

/** Delay before each retry after a failed download. */
const RETRY_DELAYS_MS = [1000, 5000, 30_000];

function Picture({ fileId, size, alt }: ThumbnailProps & { fileId: number }) {
  const [enlarged, setEnlarged] = useState(false);
  const [failures, setFailures] = useState(0);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const delay = failures > attempt ? RETRY_DELAYS_MS[attempt] : undefined;
    if (delay === undefined) return;
    const timer = setTimeout(() => setAttempt(failures), delay);
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
