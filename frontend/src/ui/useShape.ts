import { useState } from "react";

export interface Shape {
  /** Width by height of the picture. */
  shape: number;
  setShape: (shape: number) => void;
}

/** Until the first picture has come and shows its own. */
const ATARI = 160 / 210;
const USUAL = 3 / 2;

/** The shape of a stage's pictures, which are all of one environment. */
export function useShape(isAtari: boolean): Shape {
  const [shape, setShape] = useState(isAtari ? ATARI : USUAL);
  return { shape, setShape };
}
