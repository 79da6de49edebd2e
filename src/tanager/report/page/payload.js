// The data of the page: a JSON header and arrays. The Python side is payload.py.

import { unpackText } from "./binary_text.js";

const STEP = 2 ** -36;
const ZERO_PROBABILITY = -(2 ** 51);

export async function readPayload(text) {
  const bytes = await unpackText(text.trim());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const arrays = {};
  let place = 4 + length;
  for (const { name, kind, size, filled } of header.arrays) {
    const [width, decode] = DECODERS[kind];
    const length =
      kind === "sparse" ? Math.ceil(size / 8) + width * filled : width * size;
    arrays[name] = decode(bytes.subarray(place, place + length), size, filled);
    place += length;
  }
  return { header, arrays };
}

const DECODERS = {
  log: [7, decodeLogs],
  sparse: [7, decodeSparse],
  float: [4, decodeFloats],
  error: [1, decodeErrors],
  code: [2, decodeCodes],
  whole: [8, decodeWholes],
};

// Whole numbers, zigzag, in byte planes.
function decodeIntegers(bytes, size) {
  const out = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    let zigzag = 0;
    for (let b = 6; b >= 0; b--) zigzag = zigzag * 256 + bytes[b * size + i];
    out[i] = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
  }
  return out;
}

// Whole numbers, most of which are zero: a bit for each, then those that are not.
function decodeSparse(bytes, size, filled) {
  const nMask = Math.ceil(size / 8);
  const values = decodeIntegers(bytes.subarray(nMask), filled);
  const out = new Float64Array(size);
  let next = 0;
  for (let i = 0; i < size; i++) {
    if (bytes[i >> 3] & (1 << (i & 7))) out[i] = values[next++];
  }
  return out;
}

// Logarithms in units of STEP, as differences of neighbours.
function decodeLogs(bytes, size) {
  const out = decodeIntegers(bytes, size);
  let current = 0;
  for (let i = 0; i < size; i++) {
    current += out[i];
    out[i] = current === ZERO_PROBABILITY ? -Infinity : current * STEP;
  }
  return out;
}

function decodeFloats(bytes, size) {
  const view = new DataView(new ArrayBuffer(4));
  const out = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    for (let b = 0; b < 4; b++) view.setUint8(b, bytes[b * size + i]);
    out[i] = view.getFloat32(0, true);
  }
  return out;
}

// Standard errors with steps of 6 %: enough to draw bands.
function decodeErrors(bytes, size) {
  const steps = Array.from({ length: 256 }, (_, k) =>
    k === 0 ? 0 : 2 ** ((k - 200) / 12),
  );
  const out = new Float64Array(size);
  for (let i = 0; i < size; i++) out[i] = steps[bytes[i]];
  return out;
}

function decodeCodes(bytes, size) {
  const out = new Uint16Array(size);
  for (let i = 0; i < size; i++) out[i] = bytes[i] + 256 * bytes[size + i];
  return out;
}

// Running sums of 64 bits, in halves.
function decodeWholes(bytes, size) {
  const high = new Int32Array(size);
  const low = new Uint32Array(size);
  let [upper, lower] = [0, 0];
  const half = (i, first) =>
    bytes[first * size + i] +
    256 * bytes[(first + 1) * size + i] +
    65536 * bytes[(first + 2) * size + i] +
    16777216 * bytes[(first + 3) * size + i];
  for (let i = 0; i < size; i++) {
    const sum = lower + half(i, 0);
    lower = sum % 4294967296;
    upper = (upper + half(i, 4) + (sum >= 4294967296 ? 1 : 0)) % 4294967296;
    low[i] = lower;
    high[i] = upper;
  }
  return { high, low };
}
