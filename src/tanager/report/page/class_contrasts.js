// CPTs from values by class, or from values of the first class ("first") and contrasts
// of the other classes with it, or from the contrasts alone ("only"): then the values of
// the first class are zeros. The Python side is class_contrasts.py.

const CONTRAST_STEP = 2 ** -40;

export function readTables({ tables, target }, arrays, nStates) {
  const nClasses = nStates[target];
  let [place, next] = [0, 0];
  return tables.map(({ owner, axes, contrasts }) => {
    const shape = axes.filter((v) => v !== target).map((v) => nStates[v]);
    const n = shape.reduce((product, size) => product * size, 1);
    const K = axes.includes(target) ? nClasses : 1;
    const values = new Float64Array(n * K); // the class is the last axis
    for (let c = 0; c < K; c++) {
      if (contrasts && c > 0) {
        const mixed = arrays.contrasts.slice(next, next + n);
        next += n;
        sumAlongAxes(mixed, shape);
        for (let i = 0; i < n; i++)
          values[i * K + c] = values[i * K] + mixed[i] * CONTRAST_STEP;
      } else if (contrasts !== "only") {
        for (let i = 0; i < n; i++) values[i * K + c] = arrays.tables[place++];
      }
    }
    return { owner, axes, values };
  });
}

// Cumulative sums along every axis, in place.
function sumAlongAxes(values, shape) {
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    for (let i = 0; i < values.length; i++) {
      if (Math.floor(i / stride) % shape[axis] > 0) values[i] += values[i - stride];
    }
    stride *= shape[axis];
  }
}
