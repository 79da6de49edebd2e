// The smallest changes of the evidence that flip the most probable class.

import { button, byId, el, percent, replace, shorten } from "./dom.js";
import { argmax, softmax } from "./numerics.js";
import { cheapestFlip, MAX_CHANGES, singleFlips } from "./class_flips.js";

// A search begins at once, and goes on in slices between which the page responds.
const FIRST_MILLISECONDS = 30;
const SLICE_MILLISECONDS = 12;
const MAX_SEARCH_MILLISECONDS = 4000;
const NUMBERS = ["No", "One", "Two", "Three"];

export class FlipsView {
  constructor(app) {
    this.app = app;
    this.search = 0; // number of the search in progress
  }

  // From the scores of all single changes. `ondone` is called when the search has ended.
  draw(loo, ondone) {
    const { app } = this;
    const { model, codes, variables } = app;
    const search = ++this.search;
    if (!app.features.some((j) => model.isKnown(codes, j))) {
      this.say("Set some features to see which changes flip the prediction.");
      ondone();
      return;
    }
    const steps = cheapestFlip(model, variables, Array.from(codes), loo);
    const started = performance.now();
    let found = null;
    const run = (milliseconds) => {
      if (search !== this.search) return; // the evidence has changed
      const start = performance.now();
      let step = { done: false, value: null };
      while (!step.done && performance.now() - start < milliseconds) {
        step = steps.next();
        if (step.value) found = step.value;
      }
      const isLate = performance.now() - started > MAX_SEARCH_MILLISECONDS;
      if (step.done || isLate) {
        if (found?.changes.length === 1)
          this.showSingle(singleFlips(model, variables, codes, loo));
        else this.showSeveral(found, !step.done);
        ondone();
        return;
      }
      if (found) this.showSeveral(found, true);
      else this.say("No single change flips it; searching for several …");
      setTimeout(() => run(SLICE_MILLISECONDS));
    };
    run(FIRST_MILLISECONDS);
  }

  say(text) {
    replace(byId("flips"), el("p", { class: "note" }, text));
  }

  // The cheapest changes of one feature, at most three features.
  showSingle(flips) {
    const seen = new Set();
    const best = flips
      .filter(({ changes: [[j]] }) => !seen.has(j) && seen.add(j))
      .slice(0, 3);
    const items = best.map((flip) => this.flip(flip));
    replace(byId("flips"), el("p", {}, "One change flips it:"), el("ul", {}, items));
  }

  showSeveral(found, isOpen) {
    if (found === null) {
      this.say(
        isOpen
          ? "No flip was found in the time allowed."
          : `No change of up to ${MAX_CHANGES} features flips it.`,
      );
      return;
    }
    const note = isOpen
      ? "The search has not ended; there may be a cheaper change."
      : "Proven: no fewer features suffice, and no change of as many costs less.";
    replace(
      byId("flips"),
      el("p", {}, `${NUMBERS[found.changes.length]} changes flip it:`),
      el("ul", {}, this.flip(found)),
      el("p", { class: "note" }, note),
    );
  }

  flip({ changes }) {
    const { app } = this;
    const changed = Array.from(app.codes);
    for (const [j, v] of changes) changed[j] = v;
    const posterior = softmax(app.model.logScores(changed));
    const best = argmax(posterior);
    const words = changes.map(
      ([j, v]) =>
        `${shorten(app.variables[j].name, 30)} → ${shorten(app.variables[j].states[v], 24)}`,
    );
    const result = `${shorten(app.variables[app.target].states[best], 24)} ${percent(posterior[best])}`;
    return el(
      "li",
      {},
      `${words.join(" and ")}: ${result} `,
      button("apply", () => app.setCodes(changed), { class: "small" }),
    );
  }
}
