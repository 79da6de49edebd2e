// The smallest changes of the evidence that flip the most probable class.

import { button, byId, el, percent, replace, shorten } from "./dom.js";
import { argmax, softmax } from "./numerics.js";
import { pairFlips, singleFlips } from "./queries.js";

const SLICE_MILLISECONDS = 12;
const MAX_SEARCH_MILLISECONDS = 4000;

export class FlipsView {
  constructor(app) {
    this.app = app;
    this.search = 0; // number of the search in progress
  }

  // From the scores of all single changes.
  draw(loo) {
    const { app } = this;
    const { model, codes, variables } = app;
    const place = byId("flips");
    const search = ++this.search;
    const single = singleFlips(model, variables, codes, loo);
    if (!app.features.some((j) => model.isKnown(codes, j))) {
      replace(
        place,
        el(
          "p",
          { class: "note" },
          "Set some features to see which changes flip the prediction.",
        ),
      );
      return;
    }
    if (single.length) {
      const seen = new Set();
      const best = single
        .filter(({ changes: [[j]] }) => !seen.has(j) && seen.add(j))
        .slice(0, 3);
      replace(
        place,
        el("p", {}, "One change flips it:"),
        el(
          "ul",
          {},
          best.map((flip) => this.flip(flip)),
        ),
      );
      return;
    }
    replace(
      place,
      el("p", { class: "note" }, "No single change flips it; searching pairs …"),
    );
    const pairs = pairFlips(model, variables, codes, loo);
    const started = performance.now();
    let found = null;
    const step = () => {
      if (search !== this.search) return; // the evidence has changed
      const start = performance.now();
      let state = { done: false };
      while (!state.done && performance.now() - start < SLICE_MILLISECONDS) {
        state = pairs.next();
        if (!state.done && state.value !== null) found = state.value;
      }
      const isLate = performance.now() - started > MAX_SEARCH_MILLISECONDS;
      if (state.done || isLate) this.showPair(place, found, isLate && !state.done);
      else {
        if (found) this.showPair(place, found, true);
        setTimeout(step);
      }
    };
    setTimeout(step);
  }

  showPair(place, found, isOpen) {
    const note = isOpen
      ? "The search was stopped early; there may be a smaller change."
      : "All pairs were searched.";
    if (found === null) {
      replace(
        place,
        el(
          "p",
          { class: "note" },
          isOpen
            ? "No flip found in the time allowed."
            : "No change of one or two features flips it.",
        ),
      );
    } else {
      replace(
        place,
        el("p", {}, "Two changes flip it:"),
        el("ul", {}, this.flip(found)),
        el("p", { class: "note" }, note),
      );
    }
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
