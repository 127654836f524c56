import { useState } from "react";

export interface Shape {
  /** Aspect ratio of the picture. */
  shape: number;
  setShape: (shape: number) => void;
}

const DEFAULT_SHAPE = 3 / 2;

/** The shape of an environment's pictures: the expected one, until the first picture sets its own. */
export function useShape(expected: number = DEFAULT_SHAPE): Shape {
  const [measured, setShape] = useState<number | null>(null);
  return { shape: measured ?? expected, setShape };
}
