// How much is learned about the class from features: the next one to observe.

import { entropy, softmax, softmaxTo } from "./numerics.js";

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
export function mutualInformation(model, loo = model.leaveOneOut(model.nStates)) {
  const codes = model.nStates;
  const found = [];
  for (let j = 0; j < codes.length; j++) {
    if (j === model.target) continue;
    const weights = model.stateWeights(j, codes, loo, model.nStates[j]);
    found.push({ feature: j, gain: informationGain(model.nClasses, loo[j], weights) });
  }
  return found.sort((a, b) => b.gain - a.gain);
}
