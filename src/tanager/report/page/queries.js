// Questions to a model: the next feature to observe, and changes that flip the class.

import { argmax, entropy, softmax, softmaxTo } from "./numerics.js";
import { countValues } from "./variables.js";

// Log odds by which the new class must exceed all others.
const MARGIN = 1e-9;

// Information of a feature about the class, in nats: H(mixture) - sum_v P(v) H(class | v).
function informationGain(K, scores, weights) {
  const posterior = new Float64Array(K);
  const mixture = new Float64Array(K);
  let expected = 0;
  for (let v = 0; v < weights.length; v++) {
    if (!(weights[v] > 0)) continue;
    softmaxTo(scores, v * K, posterior);
    expected += weights[v] * entropy(posterior);
    for (let c = 0; c < K; c++) mixture[c] += weights[v] * posterior[c];
  }
  return Math.max(0, entropy(mixture) - expected);
}

// Expected information gain about the class of every feature whose value is not known,
// the largest first. The frequencies of factors do not depend on what is known, so that
// their gain may exceed the entropy of the class: it is limited to it, and features that
// reach it are in the order of what exceeds it.
export function nextQuestions(model, codes, loo) {
  const most = model.hasDistribution
    ? Infinity
    : entropy(softmax(model.logScores(codes)));
  const found = [];
  for (let j = 0; j < model.nStates.length; j++) {
    if (j === model.target || model.isKnown(codes, j)) continue;
    const weights = model.stateWeights(j, codes, loo);
    const estimate = informationGain(model.nClasses, loo[j], weights);
    found.push({ feature: j, estimate });
  }
  found.sort((a, b) => b.estimate - a.estimate);
  return found.map(({ feature, estimate }) => ({
    feature,
    gain: Math.min(estimate, most),
  }));
}

// Mutual information of the class and every feature of a network with CPTs, the largest
// first. Here a missing value is a state like the others.
export function mutualInformation(model) {
  const codes = model.nStates;
  const loo = model.leaveOneOut(codes);
  const found = [];
  for (let j = 0; j < codes.length; j++) {
    if (j === model.target) continue;
    const weights = model.stateWeights(j, codes, loo, model.nStates[j]);
    found.push({ feature: j, gain: informationGain(model.nClasses, loo[j], weights) });
  }
  return found.sort((a, b) => b.gain - a.gain);
}

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

// The cheapest change of two features that flips the class. A generator: it yields the
// best one so far (or null) after every step, and ends when all pairs are searched.
// First changes that bring the class closest to a flip come first.
export function* pairFlips(model, variables, codes, loo) {
  const K = model.nClasses;
  const current = argmax(model.logScores(codes));
  const starts = [];
  for (let i = 0; i < variables.length; i++) {
    if (i === model.target || !model.isKnown(codes, i)) continue;
    const n = countValues(variables[i]);
    for (let v = 0; v < n; v++) {
      if (v === codes[i]) continue;
      const scores = loo[i].subarray(v * K, v * K + K);
      const margin = largestOther(scores, current) - scores[current];
      if (!Number.isNaN(margin)) starts.push([margin, i, v]);
    }
  }
  starts.sort((a, b) => b[0] - a[0] || a[1] - b[1] || a[2] - b[2]);
  const changed = Array.from(codes);
  let best = null;
  for (const [, i, v] of starts) {
    changed[i] = v;
    const own = changeCost(variables[i], codes[i], v);
    if (best === null || own < best.cost) {
      const next = model.leaveOneOut(changed);
      for (const [j, w] of flipsOf(model, variables, changed, next, current, 0)) {
        if (j === i) continue;
        const cost = own + changeCost(variables[j], codes[j], w);
        if (best === null || cost < best.cost)
          best = {
            changes: [
              [i, v],
              [j, w],
            ],
            cost,
          };
      }
    }
    changed[i] = codes[i];
    yield best;
  }
}
