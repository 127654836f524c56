import { type RefObject, useCallback, useRef, useState } from "react";
import { useEnvironmentFamily } from "@/api/configuration";
import { useShape } from "@/ui/useShape";
import type { Send, View } from "./broadcast";
import { useBroadcast } from "./useBroadcast";

export interface OnStage {
  env: string;
  isPixelArt: boolean;
  view: View;
  send: Send;
  canvas: RefObject<HTMLCanvasElement | null>;
  /** Width by height of the picture. */
  shape: number;
  /** Width of a picture in its own pixels, or null before the first picture. */
  pixels: number | null;
}

/** Connect to a live game and paint its pictures on a canvas. */
export function useStage(game: number, env: string): OnStage {
  const family = useEnvironmentFamily(env);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pixels, setPixels] = useState<number | null>(null);
  const { shape, setShape } = useShape(family?.aspect_ratio);
  const draw = useCallback(
    (image: ImageBitmap) => {
      const stage = canvas.current;
      if (!stage) return;
      if (stage.width !== image.width || stage.height !== image.height) {
        stage.width = image.width;
        stage.height = image.height;
        setShape(image.width / image.height);
        setPixels(image.width);
      }
      stage.getContext("2d")?.drawImage(image, 0, 0);
    },
    [setShape],
  );
  const { view, send } = useBroadcast(game, draw);
  return { env, isPixelArt: family?.is_pixel_art ?? false, view, send, canvas, shape, pixels };
}
