// Changes of CPTs and factors, which can be undone.

export class Edits {
  constructor(onchange) {
    this.done = [];
    this.onchange = onchange;
  }

  // Write values to places of an array.
  apply(description, array, places, values) {
    const former = places.map((place) => array[place]);
    places.forEach((place, i) => (array[place] = values[i]));
    this.done.push({ description, array, places, former });
    this.onchange();
  }

  undo() {
    const last = this.done.pop();
    if (!last) return;
    last.places.forEach((place, i) => (last.array[place] = last.former[i]));
    this.onchange();
  }

  undoAll() {
    while (this.done.length > 1) {
      const last = this.done.pop();
      last.places.forEach((place, i) => (last.array[place] = last.former[i]));
    }
    this.undo();
  }
}

// New logarithms of a distribution in which one probability is given; the others keep
// their ratios, or become equal where all of them were zero.
export function withProbability(logs, state, probability) {
  const before = Array.from(logs, Math.exp);
  const others = before.reduce((sum, p, v) => (v === state ? sum : sum + p), 0);
  return before.map((p, v) => {
    if (v === state) return Math.log(probability);
    const part = others > 0 ? p / others : 1 / (logs.length - 1);
    return Math.log((1 - probability) * part);
  });
}
