// Terms of features whose parent is missing, in forests: messages between missing
// features take the place of a pass over the whole network for each term. The Python
// side is explain/tree_marginals.py.

// For every feature its parent feature or -1, and its table with the distances of
// entries; null unless every feature has a single table without zeros and at most one
// parent besides the class, and the class no parents.
export function findForest({ nStates, target, parents, tables }) {
  if (parents[target].length) return null;
  const nodes = nStates.map(() => null);
  for (const { owner, axes, strides, values } of tables) {
    if (owner === target) continue;
    const above = parents[owner].filter((p) => p !== target);
    if (nodes[owner] !== null || above.length > 1 || values.includes(-Infinity)) {
      return null;
    }
    const stride = (v) => (axes.includes(v) ? strides[axes.indexOf(v)] : 0);
    nodes[owner] = {
      parent: above[0] ?? -1,
      values,
      ownStride: stride(owner),
      parentStride: above.length ? stride(above[0]) : 0,
      classStride: stride(target),
    };
  }
  return nodes;
}

// log P(x | evidence on the features before x, class), an array over the classes, for
// every observed feature x with a missing parent. Parents come first in `order`.
export function forestTerms(nodes, { nStates, nClasses: K, order, target }, codes) {
  const isMissing = (v) => v >= 0 && codes[v] >= nStates[v];
  const below = new Map(); // log probability of the evidence below, by state and class
  const sent = new Map(); // messages to missing parents
  const before = new Map(); // log probability of all evidence below the first ancestor
  const found = new Map();
  // Log sum over the states of a missing feature, given a state of its parent.
  const logSum = (v, i, c) => {
    const { values, ownStride, parentStride, classStride } = nodes[v];
    const own = below.get(v);
    const start = i * parentStride + c * classStride;
    let highest = -Infinity;
    for (let x = 0; x < nStates[v]; x++) {
      highest = Math.max(highest, values[start + x * ownStride] + own[x * K + c]);
    }
    let sum = 0;
    for (let x = 0; x < nStates[v]; x++) {
      sum += Math.exp(values[start + x * ownStride] + own[x * K + c] - highest);
    }
    return highest + Math.log(sum);
  };
  for (const v of order) {
    if (v === target) continue;
    if (isMissing(v)) {
      below.set(v, new Float64Array(nStates[v] * K));
      continue;
    }
    let top = nodes[v].parent;
    if (!isMissing(top)) continue;
    const { values, ownStride, parentStride, classStride } = nodes[v];
    const above = below.get(top);
    for (let i = 0; i < nStates[top]; i++) {
      const place = codes[v] * ownStride + i * parentStride;
      for (let c = 0; c < K; c++) above[i * K + c] += values[place + c * classStride];
    }
    while (isMissing(nodes[top].parent)) {
      const { parent } = nodes[top];
      const into = below.get(parent);
      const former = sent.get(top);
      const message = new Float64Array(nStates[parent] * K);
      for (let i = 0; i < nStates[parent]; i++) {
        for (let c = 0; c < K; c++) {
          const k = i * K + c;
          message[k] = logSum(top, i, c);
          into[k] += message[k] - (former?.[k] ?? 0);
        }
      }
      sent.set(top, message);
      top = parent;
    }
    const { parent } = nodes[top];
    const state = parent < 0 ? 0 : codes[parent];
    const all = Float64Array.from({ length: K }, (_, c) => logSum(top, state, c));
    const former = before.get(top);
    found.set(
      v,
      all.map((value, c) => value - (former?.[c] ?? 0)),
    );
    before.set(top, all);
  }
  return found;
}
