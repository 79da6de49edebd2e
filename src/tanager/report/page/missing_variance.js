// Variances of the weights of factors over features that are not observed, and the
// shrinkage that follows from them. The Python side is loglinear/missing_features.py.

// For every cell that is "not observed" along axes that training samples never lacked:
// sum_a P(a | b) (w[a, b] - mean)^2, a the bins along these axes and b the others.
// Shape [cell * nColumns + c]; with two classes the only column is their log odds.
export function missingVariances(factor, nClasses) {
  const { shape, strides, support, weights } = factor;
  const nColumns = nClasses === 2 ? 1 : nClasses;
  const out = new Float64Array(support.length * nColumns);
  const bin = (cell, a) => Math.floor(cell / strides[a]) % shape[a];
  const cells = Array.from(support.keys());
  const isLast = (cell, a) => bin(cell, a) === shape[a] - 1;
  if (!support.some((weight) => weight > 0)) return out;
  const axes = shape
    .map((_, a) => a)
    .filter((a) => !cells.some((cell) => isLast(cell, a) && support[cell] > 0));
  const observed = cells.filter((cell) => axes.every((a) => !isLast(cell, a)));
  const weight = (cell, c) =>
    nClasses === 2
      ? weights[2 * cell + 1] - weights[2 * cell]
      : weights[cell * nClasses + c];
  for (let subset = 1; subset < 2 ** axes.length; subset++) {
    const hidden = axes.filter((_, i) => (subset >> i) & 1);
    const own = (cell) => hidden.reduce((sum, a) => sum + bin(cell, a) * strides[a], 0);
    const ends = hidden.reduce((sum, a) => sum + (shape[a] - 1) * strides[a], 0);
    const known = new Float64Array(support.length);
    const marginal = new Float64Array(support.length);
    const keys = observed.map(own);
    const places = observed.map((cell, i) => cell - keys[i] + ends);
    let total = 0;
    observed.forEach((cell, i) => {
      known[places[i]] += support[cell];
      marginal[keys[i]] += support[cell];
      total += support[cell];
    });
    const fractions = observed.map(
      (cell, i) => (support[cell] + marginal[keys[i]] / total) / (known[places[i]] + 1),
    );
    for (let c = 0; c < nColumns; c++) {
      const means = new Float64Array(support.length);
      observed.forEach(
        (cell, i) => (means[places[i]] += fractions[i] * weight(cell, c)),
      );
      observed.forEach((cell, i) => {
        const distance = weight(cell, c) - means[places[i]];
        out[places[i] * nColumns + c] += fractions[i] * distance * distance;
      });
    }
  }
  return out;
}

// Scores of all classes from sums of weights, in place at `at`: prior + (score - prior) /
// sqrt(1 + scale variance), of several classes centred, of two by their log odds.
export function shrinkScores(scores, at, prior, variances, from, scale) {
  const K = prior.length;
  if (K === 2) {
    const odds = prior[1] - prior[0];
    const divisor = Math.sqrt(1 + scale * variances[from]);
    scores[at + 1] = odds + (scores[at + 1] - scores[at] - odds) / divisor;
    scores[at] = 0;
    return;
  }
  let [mean, priorMean] = [0, 0];
  for (let c = 0; c < K; c++) {
    mean += scores[at + c] / K;
    priorMean += prior[c] / K;
  }
  for (let c = 0; c < K; c++) {
    const start = prior[c] - priorMean;
    const divisor = Math.sqrt(1 + scale * variances[from + c]);
    scores[at + c] = start + (scores[at + c] - mean - start) / divisor;
  }
}
