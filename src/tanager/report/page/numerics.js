// Sums of logarithms, distributions and entropies.

export function logSumExp(values, start = 0, end = values.length) {
  let highest = -Infinity;
  for (let i = start; i < end; i++) if (values[i] > highest) highest = values[i];
  if (highest === -Infinity) return -Infinity;
  let total = 0;
  for (let i = start; i < end; i++) total += Math.exp(values[i] - highest);
  return highest + Math.log(total);
}

export function softmax(logs, start = 0, end = logs.length) {
  const total = logSumExp(logs, start, end);
  const out = new Float64Array(end - start);
  for (let i = start; i < end; i++) out[i - start] = Math.exp(logs[i] - total);
  return out;
}

// Softmax of as many values as `out` has, without a new array.
export function softmaxTo(logs, start, out) {
  const total = logSumExp(logs, start, start + out.length);
  for (let i = 0; i < out.length; i++) out[i] = Math.exp(logs[start + i] - total);
}

// Entropy in nats; 0 log 0 is 0.
export function entropy(probabilities) {
  let sum = 0;
  for (const p of probabilities) if (p > 0) sum -= p * Math.log(p);
  return sum;
}

// Position of the largest value; ties go to the first, as in Python.
export function argmax(values, start = 0, end = values.length) {
  let best = start;
  for (let i = start + 1; i < end; i++) if (values[i] > values[best]) best = i;
  return best - start;
}

// The class with the second largest value.
export function runnerUp(values) {
  const first = argmax(values);
  let best = first === 0 ? 1 : 0;
  for (let i = 0; i < values.length; i++) {
    if (i !== first && values[i] > values[best]) best = i;
  }
  return best;
}
