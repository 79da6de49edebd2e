// Places of cells in tables over several variables, the last one fastest.

// For every cell over `axes` the place in a table over some of them.
export function placesOf(own, axes, nStates) {
  let stride = 1;
  const strides = new Map();
  for (const v of [...own].reverse()) {
    strides.set(v, stride);
    stride *= nStates[v];
  }
  let out = new Int32Array(1);
  for (const v of axes) {
    const n = nStates[v];
    const step = strides.get(v) ?? 0;
    const next = new Int32Array(out.length * n);
    for (let i = 0; i < out.length; i++) {
      for (let s = 0; s < n; s++) next[i * n + s] = out[i] + s * step;
    }
    out = next;
  }
  return out;
}
