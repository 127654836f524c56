interface Box {
  width: number;
  height: number;
}

/**
 * Return the width in CSS pixels at which a picture of this aspect ratio fits into a box. A picture that is
 * `pixels` wide is enlarged by a whole number of device pixels, so that all its pixels have the same size.
 */
export function fittedWidth(box: Box, shape: number, pixels: number | null, screen: number): number {
  const width = Math.min(box.width, box.height * shape);
  const scale = pixels ? Math.floor((width * screen) / pixels) : 0;
  return pixels && scale >= 1 ? (scale * pixels) / screen : width;
}
