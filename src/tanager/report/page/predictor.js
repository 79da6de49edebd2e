// Class probabilities from values, without a page: the module that `to_js` writes.
// The Python side is export/js_module.py.

import { readModel } from "./model.js";
import { argmax, softmax } from "./numerics.js";
import { countValues } from "./variables.js";

// A feature's own value: objects inherit names such as "constructor".
const ownValue = (values, name) =>
  Object.hasOwn(values, name) ? values[name] : undefined;

export class Predictor {
  constructor(payload) {
    this.model = readModel(payload);
    const { variables, target } = payload.header;
    this.target = target;
    this.variables = variables;
    this.classes = variables[target].states;
    this.features = variables.map(({ name }) => name).filter((_, v) => v !== target);
    this.codes = variables.map((variable) => {
      const values = variable.states.slice(0, countValues(variable));
      return new Map(values.map((state, code) => [state, code]));
    });
  }

  // Code of a value: a number, a category, or null, undefined and NaN for missing.
  codeOf(v, value) {
    const { cuts, states, missing_state } = this.variables[v];
    // A column that is left out, such as an identifier, may hold anything.
    if (cuts && states.length === 1 && states[0] === "(left out)") return 0;
    const isMissing = value === null || value === undefined || Number.isNaN(value);
    if (isMissing) return missing_state ? states.length - 1 : states.length;
    if (!cuts) return this.codes[v].get(value) ?? states.length;
    if (typeof value !== "number") {
      throw new TypeError(`${this.variables[v].name} must be a number, got ${value}`);
    }
    let [low, high] = [0, cuts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cuts[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // `values` has the features by name; those that are left out are missing.
  predictProba(values) {
    const codes = this.variables.map(({ name, states }, v) =>
      v === this.target ? states.length : this.codeOf(v, ownValue(values, name)),
    );
    return Array.from(softmax(this.model.logScores(codes)));
  }

  predict(values) {
    return this.classes[argmax(this.predictProba(values))];
  }
}
