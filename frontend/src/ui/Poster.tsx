import { fileAddress } from "@/api/client";
import classes from "./Run.module.css";

interface PosterProps {
  fileId: number | null;
  /** Height and greatest width, in CSS pixels. */
  size: number;
  alt: string;
}

/** The latest frame of a game, its pixels never blurred; an empty screen before there is one. */
export function Poster({ fileId, size, alt }: PosterProps) {
  return (
    <span className={classes.poster} style={{ width: size, height: size }}>
      {fileId !== null && (
        <img src={fileAddress(fileId)} alt={alt} className="pixelated" loading="lazy" decoding="async" />
      )}
    </span>
  );
}
