// The data of the page as the Python side packed them: typed arrays in base64 inside JSON.

export type Numbers = Uint8Array | Uint16Array | Int32Array | Float32Array | Float64Array;

export type Kind = "number" | "date" | "category";

/** A column of the table; its values are read when they are first asked for. */
export class Column {
  readonly name: string;
  readonly kind: Kind;
  /** Whether the clustering used it: only such columns are reasons. */
  readonly used: boolean;
  /** Values of a category, the most frequent first; a missing one has the number that follows. */
  readonly categories: string[] | null;
  /** Decimals of the numbers, null where they have many. */
  readonly decimals: number | null;
  private packed: PackedColumn | null;
  private known: Numbers | null = null;

  constructor(packed: PackedColumn) {
    this.name = packed.name;
    this.kind = packed.kind;
    this.used = packed.used;
    this.categories = packed.categories ?? null;
    this.decimals = packed.decimals ?? null;
    this.packed = packed;
  }

  /** Numbers, NaN where one is missing; days since 1970 of dates; numbers of categories. */
  get values(): Numbers {
    if (!this.known) {
      const { values, decimals, missing } = this.packed!;
      const raw = unpack(values);
      this.known = this.categories || decimals === undefined ? raw : asNumbers(raw, 10 ** decimals, missing ?? NaN);
      this.packed = null;
    }
    return this.known;
  }
}

function asNumbers(whole: Numbers, unit: number, missing: number): Float64Array {
  const numbers = new Float64Array(whole.length);
  for (let i = 0; i < numbers.length; i++) numbers[i] = whole[i] === missing ? NaN : whole[i] / unit;
  return numbers;
}

/** One way to look at the samples: places near to -1 to 1. */
export class View {
  readonly name: string;
  readonly oneScale: boolean;
  /** Whether the two directions are the features themselves. */
  readonly asGiven: boolean;
  readonly axes: Axis[];
  readonly extent: [number, number];
  /** Samples that lie far away, outside of what is shown at first. */
  readonly outside: number;
  readonly density: Density | null;
  private packed: Packed | null;
  private known: Float32Array<ArrayBuffer> | null = null;

  constructor(given: PackedView) {
    this.name = given.name;
    this.oneScale = given.one_scale;
    this.asGiven = given.as_given;
    this.axes = given.axes;
    this.extent = given.extent;
    this.outside = given.outside;
    this.density = given.density
      ? { ...given.density, counts: unpack(given.density.counts), locals: unpack(given.density.locals) }
      : null;
    this.packed = given.place;
  }

  get place(): Float32Array<ArrayBuffer> {
    if (!this.known) {
      this.known = unpack(this.packed!) as Float32Array<ArrayBuffer>;
      this.packed = null;
    }
    return this.known;
  }
}

/** How many of all samples lie in each tile of the window, row by row from below, and in which local cluster most do. */
export interface Density {
  side: number;
  counts: Numbers;
  locals: Numbers;
}

export interface Scores {
  n_clusters: number[];
  score: number[];
  recommended: number[];
}

export interface Samples {
  local: Numbers;
  noise: Numbers;
  intensity: Numbers;
  leaving: Numbers;
  outlier: Numbers;
  parent: Numbers;
  row: Numbers | null;
  steps: Numbers | null;
}

export interface Graph {
  sizes: Float64Array;
  members: Numbers;
  peaks: Numbers;
  edges: Int32Array;
  pairs: Numbers;
  logWeights: Float64Array;
  cutOrder: Int32Array;
  cutSums: Float64Array;
  labels: Int32Array;
  merges: Int32Array | null;
}

export interface Axis {
  name: string;
  centre: number;
  unit: number;
}

export interface Model {
  title: string;
  nSamples: number;
  nShown: number;
  nLocal: number;
  variant: string;
  recut: boolean;
  prior: number[] | null;
  firmness: string[];
  scores: Scores | null;
  views: View[];
  names: string[] | null;
  columns: Column[];
  columnsLeftOut: number;
  samples: Samples;
  graph: Graph;
}

interface Packed {
  type: "u1" | "u2" | "i4" | "f4" | "f8";
  data: string;
}

interface PackedColumn {
  name: string;
  kind: Kind;
  used: boolean;
  values: Packed;
  categories?: string[];
  decimals?: number;
  missing?: number | null;
}

interface PackedView {
  name: string;
  one_scale: boolean;
  as_given: boolean;
  axes: Axis[];
  extent: [number, number];
  outside: number;
  place: Packed;
  density?: { side: number; counts: Packed; locals: Packed };
}

const TYPES = { u1: Uint8Array, u2: Uint16Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };

function unpack(packed: Packed): Numbers {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[packed.type](bytes.buffer);
}

const optional = (packed: Packed | null | undefined): Numbers | null => (packed ? unpack(packed) : null);

/** The model in the page's data block. */
export function readModel(text: string): Model {
  const { samples, graph, columns, views, n_samples, columns_left_out, ...rest } = JSON.parse(text);
  const local = unpack(samples.local);
  const merges = optional(graph.merges);
  return {
    ...rest,
    nSamples: n_samples,
    nShown: local.length,
    nLocal: unpack(graph.sizes).length,
    columns: columns.map((column: PackedColumn) => new Column(column)),
    columnsLeftOut: columns_left_out,
    views: views.map((view: PackedView) => new View(view)),
    samples: {
      local,
      noise: unpack(samples.noise),
      intensity: unpack(samples.intensity),
      leaving: unpack(samples.leaving),
      outlier: unpack(samples.outlier),
      parent: unpack(samples.parent),
      row: optional(samples.row),
      steps: optional(samples.steps),
    },
    graph: {
      sizes: Float64Array.from(unpack(graph.sizes)),
      members: unpack(graph.members),
      peaks: unpack(graph.peaks),
      edges: Int32Array.from(unpack(graph.edges)),
      pairs: unpack(graph.pairs),
      logWeights: unpack(graph.log_weights) as Float64Array,
      cutOrder: Int32Array.from(unpack(graph.cut_order)),
      cutSums: unpack(graph.cut_sums) as Float64Array,
      labels: Int32Array.from(unpack(graph.labels)),
      merges: merges && Int32Array.from(merges),
    },
  };
}

/** The row of a shown sample in the data that were fitted. */
export function rowOf(model: Model, sample: number): number {
  return model.samples.row ? model.samples.row[sample] : sample;
}

/** The shown sample of a row, -1 where it is not shown; rows ascend. */
export function sampleOf(model: Model, row: number): number {
  const rows = model.samples.row;
  if (!rows) return Number.isInteger(row) && row >= 0 && row < model.nShown ? row : -1;
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < row) low = middle + 1;
    else high = middle;
  }
  return rows[low] === row ? low : -1;
}
