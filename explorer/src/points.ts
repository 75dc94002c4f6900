// Samples as discs in the pixels of an image. The time depends on no graphics card: 100,000 samples take 10 to 30 ms.

import type { Camera, Size } from "./camera";
import type { Rgb } from "./colours";

/** Draw samples over a background, in colours with red, green, blue and alpha bytes; `ratio` pixels are a CSS pixel. */
export function drawPoints(
  context: CanvasRenderingContext2D,
  xy: Float32Array,
  colours: Uint8Array<ArrayBuffer>,
  camera: Camera,
  size: Size,
  ratio: number,
  diameter: number,
  background: Rgb,
): void {
  const radius = (ratio * diameter) / 2;
  const margin = Math.ceil(radius) + 1; // discs of samples next to the edge are inside the image
  const [width, height] = [context.canvas.width + 2 * margin, context.canvas.height + 2 * margin];
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(new Uint32Array(new Uint8Array([...background, 255]).buffer)[0]);
  const packed = new Uint32Array(colours.buffer);

  // The pixels of a disc relative to its middle, and the share of each that the disc covers, in 1/256.
  const offsets: number[] = [];
  const covered: number[] = [];
  for (let down = -margin; down <= margin; down++) {
    for (let right = -margin; right <= margin; right++) {
      const inside = radius + 0.5 - Math.hypot(right, down);
      if (inside <= 0) continue;
      offsets.push(down * width + right);
      covered.push(Math.min(256, Math.round(256 * inside)));
    }
  }

  const [scaleX, scaleY] = camera.scale(size).map((scale) => scale * ratio);
  const [left, top] = camera.toScreen(size, 0, 0).map((distance) => distance * ratio);
  for (let i = 0; 2 * i < xy.length; i++) {
    const x = Math.round(left + xy[2 * i] * scaleX) + margin;
    const y = Math.round(top - xy[2 * i + 1] * scaleY) + margin;
    if (x < margin || y < margin || x >= width - margin || y >= height - margin) continue;
    const colour = packed[i];
    const opacity = (colour >>> 24) + 1;
    const [middle, redBlue, green] = [y * width + x, colour & 0xff00ff, colour & 0xff00];
    for (let k = 0; k < offsets.length; k++) {
      const at = middle + offsets[k];
      const share = (covered[k] * opacity) >> 8;
      if (share === 256) {
        pixels[at] = colour;
        continue;
      }
      // Red and blue are mixed in one step: each has 8 free bits above it, and the mask removes their fractions.
      const [lastRedBlue, lastGreen] = [pixels[at] & 0xff00ff, pixels[at] & 0xff00];
      const mixedRedBlue = (lastRedBlue + (((redBlue - lastRedBlue) * share) >> 8)) & 0xff00ff;
      const mixedGreen = (lastGreen + (((green - lastGreen) * share) >> 8)) & 0xff00;
      pixels[at] = 0xff000000 | mixedRedBlue | mixedGreen;
    }
  }
  context.putImageData(image, -margin, -margin);
}
