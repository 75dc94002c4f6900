// All samples in one draw call of WebGL; plain canvas where there is none.

import type { Camera, Size } from "./camera";

export type Bytes = Uint8Array<ArrayBuffer>;
type Floats = Float32Array<ArrayBuffer>;

export interface PointLayer {
  readonly webgl: boolean;
  setPlaces(place: Floats): void;
  /** Colours are bytes: red, green, blue and alpha of every sample. */
  setColours(colours: Bytes): void;
  /** Draw a share of the samples, spread evenly over them. */
  draw(camera: Camera, size: Size, ratio: number, radius: number, share: number): void;
}

const VERTEX = `
attribute vec2 place;
attribute vec4 colour;
uniform vec2 centre, scale;
uniform mediump float diameter;
varying vec4 shade;
void main() {
  gl_Position = vec4((place - centre) * scale, 0.0, 1.0);
  gl_PointSize = diameter;
  shade = colour;
}`;

const FRAGMENT = `
precision mediump float;
uniform float diameter;
varying vec4 shade;
void main() {
  float edge = (0.5 - distance(gl_PointCoord, vec2(0.5))) * diameter;
  float alpha = shade.a * (diameter < 2.5 ? 1.0 : clamp(edge + 0.5, 0.0, 1.0));
  gl_FragColor = vec4(shade.rgb * alpha, alpha);
}`;

/** All numbers below n in an order of which any beginning is spread evenly: steps of about n times the golden ratio. */
function mixedOrder(n: number): Uint32Array {
  const shareFactor = (a: number, b: number): boolean => (b === 0 ? a > 1 : shareFactor(b, a % b));
  let step = Math.max(1, Math.round(n * 0.618034));
  while (shareFactor(n, step) && step > 1) step--;
  const order = new Uint32Array(n);
  for (let i = 0; i < n; i++) order[i] = (i * step) % n;
  return order;
}

export function createPoints(canvas: HTMLCanvasElement, place: Floats): PointLayer {
  const gl = canvas.getContext("webgl", { antialias: false, alpha: true, depth: false });
  return gl ? new WebGlPoints(canvas, gl, place) : new CanvasPoints(canvas, place);
}

class WebGlPoints implements PointLayer {
  readonly webgl = true;
  private uniforms!: Record<"centre" | "scale" | "diameter", WebGLUniformLocation | null>;
  private places: WebGLBuffer | null = null;
  private colours: WebGLBuffer | null = null;
  private latest: Bytes = new Uint8Array();
  private readonly order: Uint32Array;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGLRenderingContext,
    private place: Floats,
  ) {
    this.order = mixedOrder(place.length / 2);
    this.prepare();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.prepare();
      this.setColours(this.latest);
    });
  }

  private prepare(): void {
    const { gl } = this;
    const program = gl.createProgram()!;
    for (const [kind, source] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ] as const) {
      const shader = gl.createShader(kind)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "place");
    gl.bindAttribLocation(program, 1, "colour");
    gl.linkProgram(program);
    gl.useProgram(program);
    const locate = (name: string): WebGLUniformLocation | null => gl.getUniformLocation(program, name);
    this.uniforms = { centre: locate("centre"), scale: locate("scale"), diameter: locate("diameter") };
    this.places = gl.createBuffer();
    this.setPlaces(this.place);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    this.colours = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.colours);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  setPlaces(place: Floats): void {
    const { gl, order } = this;
    this.place = place;
    const ordered = new Float32Array(place.length);
    for (let i = 0; i < ordered.length; i++) ordered[i] = place[2 * order[i >> 1] + (i & 1)];
    gl.bindBuffer(gl.ARRAY_BUFFER, this.places);
    gl.bufferData(gl.ARRAY_BUFFER, ordered, gl.STATIC_DRAW);
  }

  setColours(colours: Bytes): void {
    this.latest = colours;
    const given = new Uint32Array(colours.buffer);
    const ordered = new Uint32Array(given.length);
    for (let i = 0; i < ordered.length; i++) ordered[i] = given[this.order[i]];
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.colours);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, ordered, this.gl.DYNAMIC_DRAW);
  }

  draw(camera: Camera, size: Size, ratio: number, radius: number, share: number): void {
    const { gl, uniforms } = this;
    const [right, up] = camera.scale(size);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(uniforms.centre, camera.x, camera.y);
    gl.uniform2f(uniforms.scale, (2 * right) / size.width, (2 * up) / size.height);
    gl.uniform1f(uniforms.diameter, 2 * radius * ratio);
    gl.drawArrays(gl.POINTS, 0, Math.ceil(share * this.order.length));
  }
}

class CanvasPoints implements PointLayer {
  readonly webgl = false;
  private colours: Bytes = new Uint8Array();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private place: Floats,
  ) {}

  setPlaces(place: Floats): void {
    this.place = place;
  }

  setColours(colours: Bytes): void {
    this.colours = colours;
  }

  draw(camera: Camera, size: Size, ratio: number, radius: number, share: number): void {
    const { place, colours } = this;
    const step = Math.ceil(1 / share);
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    for (let i = 0; 2 * i < place.length; i += step) {
      const [x, y] = camera.toScreen(size, place[2 * i], place[2 * i + 1]);
      if (x < -radius || y < -radius || x > size.width + radius || y > size.height + radius) continue;
      const [r, g, b, a] = colours.subarray(4 * i, 4 * i + 4);
      context.fillStyle = `rgb(${r} ${g} ${b} / ${a / 255})`;
      context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    }
  }
}
