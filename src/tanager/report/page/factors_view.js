// Global view: importance of features or factors, their curves and pairs.

import { button, byId, el, plain, replace, shorten } from "./dom.js";
import { curveChart, pairChart } from "./curve_view.js";
import {
  effectOfFeature,
  effectOfPair,
  featurePairs,
  isDrawable,
} from "./network_effects.js";

const FIRST_BARS = 20;
const FIRST_CURVES = 6;

export class FactorsView {
  constructor(app) {
    this.app = app;
    this.nBars = FIRST_BARS;
    this.nCurves = FIRST_CURVES;
    this.draw();
  }

  draw() {
    const { app } = this;
    const items = app.importance;
    const most = Math.max(1e-12, ...items.map(({ value }) => value));
    const unit = app.header.kind === "factors" ? "" : " nats";
    const bars = items.slice(0, this.nBars).map(({ features, value }) =>
      el(
        "div",
        { class: "bar" },
        button(
          features.map((j) => shorten(app.variables[j].name, 30)).join(" × "),
          () => app.selectNode(features[0]),
          { class: "link bar-name" },
        ),
        el(
          "span",
          { class: "track" },
          el("span", { class: "fill", "width%": (100 * value) / most }),
        ),
        el("span", { class: "bar-value" }, `${plain(value, 3)}${unit}`),
      ),
    );
    const note =
      app.header.kind === "factors"
        ? "Root mean square of the log weights of every factor over the training samples."
        : "Mutual information of every feature and the class in the network: what the feature alone says about the class.";
    replace(
      byId("importance"),
      el("h3", {}, "Importance"),
      el("p", { class: "note" }, note),
      ...bars,
      items.length > this.nBars
        ? button(`Show all ${items.length}`, () => {
            this.nBars = items.length;
            this.draw();
          })
        : null,
    );
    this.drawCurves();
  }

  // What to show, the most important first, as functions that make it: [curves, pairs].
  effects() {
    const { app } = this;
    const { model, marginals } = app;
    const items = app.importance;
    if (app.header.kind === "factors") {
      return [1, 2].map((n) =>
        items
          .filter(({ features }) => features.length === n)
          .map(({ factor }) => () => factor),
      );
    }
    const rank = new Map(items.map(({ features: [j] }, k) => [j, k]));
    const sum = (pair) => rank.get(pair[0]) + rank.get(pair[1]);
    const drawable = (n) => [...rank.keys()].filter((j) => isDrawable(app.variables[j], n));
    const pairs = featurePairs(model, drawable(2));
    return [
      drawable(1).map((j) => () => effectOfFeature(model, marginals, j)),
      pairs
        .sort((p, q) => sum(p) - sum(q))
        .map((pair) => () => effectOfPair(model, marginals, pair)),
    ];
  }

  drawCurves() {
    const { app } = this;
    const [curves, pairs] = this.effects();
    const isNetwork = app.header.kind !== "factors";
    const dots = isNetwork
      ? "the probability in the network"
      : "the number of training samples";
    const figure = (content, factor) =>
      el(
        "figure",
        {},
        content,
        el(
          "figcaption",
          {},
          factor.features.map((j) => shorten(app.variables[j].name, 36)).join(" × "),
        ),
      );
    const more =
      Math.max(curves.length, pairs.length) > this.nCurves
        ? button("Show more", () => {
            this.nCurves *= 3;
            this.drawCurves();
          })
        : null;
    replace(
      byId("curves"),
      el("h3", {}, "Curves"),
      isNetwork
        ? el(
            "p",
            { class: "note" },
            `What a feature adds to the ${app.model.nClasses === 2 ? `log odds of ${app.classPairText()}` : "log weights of the classes"} if nothing else is known; the bars show ${dots}.`,
          )
        : null,
      app.legend(),
      el(
        "div",
        { class: "gallery" },
        curves
          .slice(0, this.nCurves)
          .map((make) => make())
          .map((factor) => figure(curveChart(app, factor), factor)),
      ),
      pairs.length ? el("h3", {}, "Pairs") : null,
      pairs.length
        ? el(
            "p",
            { class: "note" },
            `${isNetwork ? "Change of the log odds" : "Log odds"} of ${app.classPairText()}; the first feature runs downwards, the second to the right; the dots show ${dots}.`,
          )
        : null,
      el(
        "div",
        { class: "gallery" },
        pairs
          .slice(0, this.nCurves)
          .map((make) => make())
          .map((factor) => figure(pairChart(app, factor, ...app.classPair()), factor)),
      ),
      more,
    );
  }
}
