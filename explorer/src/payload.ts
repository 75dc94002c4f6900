// The data of the page as the Python side packed them: typed arrays in base64 inside JSON.

export type Numbers = Uint8Array | Uint16Array | Int32Array | Float32Array | Float64Array;

export interface Column {
  name: string;
  values: Numbers;
  categories: string[] | null;
}

export interface Samples {
  place: Float32Array<ArrayBuffer>;
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
  axes: Axis[];
  names: string[] | null;
  columns: Column[];
  samples: Samples;
  graph: Graph;
}

interface Packed {
  type: "u1" | "u2" | "i4" | "f4" | "f8";
  data: string;
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
  const { samples, graph, columns, n_samples: nSamples, ...rest } = JSON.parse(text);
  const local = unpack(samples.local);
  const merges = optional(graph.merges);
  return {
    ...rest,
    nSamples,
    nShown: local.length,
    nLocal: unpack(graph.sizes).length,
    columns: columns.map((column: { name: string; values: Packed; categories?: string[] }) => ({
      name: column.name,
      values: unpack(column.values),
      categories: column.categories ?? null,
    })),
    samples: {
      place: unpack(samples.place) as Float32Array<ArrayBuffer>,
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
  if (!rows) return row >= 0 && row < model.nShown ? row : -1;
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < row) low = middle + 1;
    else high = middle;
  }
  return rows[low] === row ? low : -1;
}
