// Changes of known features that flip the most probable class.

import { ChangeSearch, MARGIN } from "./change_search.js";
import { argmax } from "./numerics.js";
import { countValues } from "./variables.js";

// Largest number of features that a flip changes.
export const MAX_CHANGES = 3;

// Cost of a change: the distance of ordered states as a fraction of all, otherwise 1.
export function changeCost(variable, from, to) {
  const n = countValues(variable);
  return variable.ordered && from < n ? Math.abs(to - from) / Math.max(1, n - 1) : 1;
}

function* flipsOf(model, variables, codes, loo, current, first) {
  const K = model.nClasses;
  for (let i = first; i < variables.length; i++) {
    if (i === model.target || !model.isKnown(codes, i)) continue;
    const n = countValues(variables[i]);
    for (let v = 0; v < n; v++) {
      if (v === codes[i]) continue;
      const scores = loo[i].subarray(v * K, v * K + K);
      const best = argmax(scores);
      if (best === current || scores[best] === -Infinity) continue;
      if (scores[best] - largestOther(scores, best) > MARGIN) yield [i, v];
    }
  }
}

function largestOther(scores, chosen) {
  let other = -Infinity;
  for (let c = 0; c < scores.length; c++) {
    if (c !== chosen) other = Math.max(other, scores[c]);
  }
  return other;
}

// Changes of one known feature that flip the most probable class, cheapest first.
export function singleFlips(model, variables, codes, loo) {
  const current = argmax(model.logScores(codes));
  const found = [];
  for (const [i, v] of flipsOf(model, variables, codes, loo, current, 0)) {
    found.push({ changes: [[i, v]], cost: changeCost(variables[i], codes[i], v) });
  }
  return found.sort((a, b) => a.cost - b.cost);
}

// The cheapest change of few features that flips the class: a generator that yields the
// best one so far (or null) after every step, and returns it when it is proven. There is
// none with fewer features. Sums of terms are searched by branch and bound.
export function* cheapestFlip(model, variables, codes, loo) {
  const [single] = singleFlips(model, variables, codes, loo);
  if (single !== undefined) return single;
  const scores = model.logScores(codes);
  const current = argmax(scores);
  const terms = model.additiveTerms(codes);
  const search =
    terms &&
    new ChangeSearch({
      terms,
      scores,
      codes,
      moves: findMoves(model, variables, codes),
    });
  let best = null;
  for (let size = 2; size <= MAX_CHANGES && best === null; size++) {
    if (search === null) {
      for (best of enumerateFlips(model, variables, codes, loo, size)) yield best;
      continue;
    }
    for (let target = 0; target < model.nClasses; target++) {
      if (target === current) continue;
      const steps = search.best(size, target, best);
      let step = steps.next();
      for (; !step.done; step = steps.next()) yield best;
      best = step.value;
    }
  }
  return best;
}

// The states that known features may change to, and what that costs.
function findMoves(model, variables, codes) {
  const found = [];
  for (let j = 0; j < variables.length; j++) {
    if (j === model.target || !model.isKnown(codes, j)) continue;
    const all = Array.from({ length: countValues(variables[j]) }, (_, v) => v);
    const others = all.filter((v) => v !== codes[j]);
    const costs = others.map((v) => changeCost(variables[j], codes[j], v));
    found.push({ feature: j, codes: others, costs });
  }
  return found;
}

// The same by trying all changes of `size` features. First changes that bring the class
// closest to a flip come first; the last of the changes follows from `leaveOneOut`.
function* enumerateFlips(model, variables, codes, loo, size) {
  const K = model.nClasses;
  const current = argmax(model.logScores(codes));
  const starts = [];
  for (const move of findMoves(model, variables, codes)) {
    move.codes.forEach((v, k) => {
      const scores = loo[move.feature].subarray(v * K, v * K + K);
      const margin = largestOther(scores, current) - scores[current];
      if (!Number.isNaN(margin))
        starts.push({ margin, change: [move.feature, v], cost: move.costs[k] });
    });
  }
  starts.sort((a, b) => b.margin - a.margin);
  const changed = Array.from(codes);
  let best = null;
  function* visit(first, chosen, cost) {
    if (chosen.length === size - 1) {
      const next = model.leaveOneOut(changed);
      const taken = new Set(chosen.map(([j]) => j));
      for (const [j, w] of flipsOf(model, variables, changed, next, current, 0)) {
        if (taken.has(j)) continue;
        const total = cost + changeCost(variables[j], codes[j], w);
        if (best === null || total < best.cost - 1e-12)
          best = { changes: [...chosen, [j, w]], cost: total };
      }
      yield best;
      return;
    }
    for (let k = first; k < starts.length; k++) {
      const { change, cost: own } = starts[k];
      const [j, v] = change;
      if (best !== null && cost + own >= best.cost) continue;
      if (chosen.some(([i]) => i === j)) continue;
      changed[j] = v;
      yield* visit(k + 1, [...chosen, change], cost + own);
      changed[j] = codes[j];
    }
  }
  yield* visit(0, [], 0);
}
