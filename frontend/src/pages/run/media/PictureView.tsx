import { Anchor, Text } from "@mantine/core";
import { useState } from "react";
import { fileAddress } from "@/api/client";
import type { MediaItem } from "@/api/types";
import { short } from "@/ui/format";
import classes from "./media.module.css";
import type { MediaViewProps } from "./mediaData";

/** Smaller images are shown with sharp pixels. */
const SMALL_PIXELS = 200;

const describe = ({ caption, name, step }: MediaItem) => caption ?? `${name} at ${short(step, "steps")}`;

/** The images of one step. A click opens the full size. */
export function ImageView({ items }: MediaViewProps) {
  return (
    <div className={classes.pictures}>
      {items.map((item) => (
        <figure key={item.id}>
          <Anchor href={fileAddress(item.file_id ?? 0)} target="_blank" rel="noreferrer">
            <Image item={item} />
          </Anchor>
          <Caption item={item} />
        </figure>
      ))}
    </div>
  );
}

function Image({ item }: { item: MediaItem }) {
  const [isSmall, setIsSmall] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <Text size="sm">The browser cannot show this picture. The file may be damaged.</Text>;
  return (
    <img
      src={fileAddress(item.file_id ?? 0)}
      alt={describe(item)}
      decoding="async"
      className={isSmall ? "pixelated" : undefined}
      onError={() => setBroken(true)}
      onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
        setIsSmall(Math.max(naturalWidth, naturalHeight) <= SMALL_PIXELS)
      }
    />
  );
}

/** The videos of one step. They may be GIF or WebP files, which browsers show as images. */
export function VideoView({ items }: MediaViewProps) {
  return (
    <div className={classes.pictures}>
      {items.map((item) => (
        <figure key={item.id}>
          {item.media_type?.startsWith("video/") ? <Video item={item} /> : <Image item={item} />}
          <Caption item={item} />
        </figure>
      ))}
    </div>
  );
}

function Video({ item }: { item: MediaItem }) {
  return (
    <video
      src={fileAddress(item.file_id ?? 0)}
      aria-label={describe(item)}
      controls
      loop
      muted
      playsInline
      preload="metadata"
    />
  );
}

function Caption({ item }: { item: MediaItem }) {
  if (!item.caption) return null;
  return (
    <Text component="figcaption" size="sm" c="dimmed">
      {item.caption}
    </Text>
  );
}
