// Places of nodes: layers from parents to children, the class above all.

const MAX_IN_ROW = 8;

// `edges` are pairs of positions of features, parent first. Returns {x, y} per node,
// in units of a node's width and height.
export function layeredLayout(nodes, edges) {
  const parents = new Map(nodes.map((v) => [v, []]));
  const near = new Map(nodes.map((v) => [v, []]));
  for (const [a, b] of edges) {
    parents.get(b).push(a);
    near.get(a).push(b);
    near.get(b).push(a);
  }
  const depth = new Map();
  const depthOf = (v) => {
    if (!depth.has(v)) {
      depth.set(v, 0);
      depth.set(v, Math.max(-1, ...parents.get(v).map(depthOf)) + 1);
    }
    return depth.get(v);
  };
  const linked = nodes.filter((v) => near.get(v).length > 0);
  const alone = nodes.filter((v) => near.get(v).length === 0);
  const layers = [];
  for (const v of linked) (layers[depthOf(v)] ??= []).push(v);
  sweep(layers, near);
  const places = new Map();
  let row = 1;
  const put = (members) => {
    for (let start = 0; start < members.length; start += MAX_IN_ROW) {
      const part = members.slice(start, start + MAX_IN_ROW);
      // Rows of a wide layer are shifted, so that arcs do not run through nodes.
      const shift = members.length > MAX_IN_ROW && (start / MAX_IN_ROW) % 2 ? 0.5 : 0;
      part.forEach((v, i) =>
        places.set(v, { x: i - (part.length - 1) / 2 + shift, y: row }),
      );
      row++;
    }
  };
  for (const layer of layers) if (layer) put(layer);
  put(alone);
  return places;
}

// Order every layer by the mean place of its neighbours, down and up, a few times.
function sweep(layers, near) {
  const place = new Map();
  const note = (layer) =>
    layer.forEach((v, i) => place.set(v, i - (layer.length - 1) / 2));
  for (const layer of layers) note(layer);
  const mean = (v, others) => {
    const known = near
      .get(v)
      .filter((w) => others.has(w))
      .map((w) => place.get(w));
    return known.length
      ? known.reduce((a, b) => a + b, 0) / known.length
      : place.get(v);
  };
  for (let round = 0; round < 6; round++) {
    const order = round % 2 ? [...layers.keys()].reverse() : [...layers.keys()];
    for (const k of order) {
      const others = new Set(layers[round % 2 ? k + 1 : k - 1] ?? []);
      const wanted = new Map(layers[k].map((v) => [v, mean(v, others)]));
      layers[k].sort((a, b) => wanted.get(a) - wanted.get(b) || a - b);
      note(layers[k]);
    }
  }
}
