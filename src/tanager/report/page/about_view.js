// Schema with cut points, settings, training trace, versions and data fingerprint.

import { lineChart } from "./charts.js";
import { byId, el, plain, replace, shorten, table } from "./dom.js";
import { cutTexts, isLeftOut } from "./variables.js";

const MAX_STEPS = 60;
const KINDS = { datetime: "date", time: "time of day", timedelta: "duration" };

// The keys of all steps, in the order in which they first appear.
export function traceKeys(steps) {
  return [...new Set(steps.flatMap(Object.keys))];
}

export class AboutView {
  constructor({ header, variables, target }) {
    const { data } = header;
    const facts = [
      ...header.versions.map(([name, version]) => [`${name} version`, version]),
    ];
    if (data) {
      if (data.name) facts.push(["data", data.name]);
      facts.push(
        ["samples", plain(data.n_samples)],
        ["data fingerprint (SHA-256 of codes and labels)", data.fingerprint],
      );
    }
    replace(
      byId("about-content"),
      el("h3", {}, "Variables"),
      this.schema(variables, target),
      header.settings.length ? el("h3", {}, "Settings") : null,
      header.settings.length
        ? table(
            ["argument", "value"],
            header.settings.map(([name, value]) => [name, shorten(value, 300)]),
            { "aria-label": "Settings" },
          )
        : null,
      ...this.trace(header.trace),
      el("h3", {}, "Versions and data"),
      table(["what", "value"], facts, { "aria-label": "Versions and data" }),
    );
  }

  schema(variables, target) {
    const rows = variables.map((variable, v) => [
      shorten(variable.name, 60),
      v === target ? "class" : this.kind(variable),
      plain(variable.states.length),
      shorten(this.values(variable), 240),
    ]);
    const head = ["name", "kind", "states", "states or cut points"];
    return table(head, rows, { "aria-label": "Variables", class: "schema" });
  }

  kind({ cuts, ordered, unit }) {
    if (cuts) return unit ? KINDS[unit] : "numeric";
    return ordered ? "ordered" : "categorical";
  }

  values(variable) {
    const { cuts, states, unit } = variable;
    if (!cuts) return states.slice(0, 60).join(", ");
    if (!cuts.length) return isLeftOut(variable) ? "left out" : "a single bin";
    const shown = unit
      ? cutTexts({ cuts, states }).slice(0, 60)
      : cuts.slice(0, 60).map((cut) => Number(cut.toPrecision(6)));
    return `cut at ${shown.join(", ")}`;
  }

  trace(trace) {
    const stages = Object.entries(trace).map(([stage, content]) =>
      this.stage(stage, content),
    );
    if (stages.some((stage) => stage !== null)) return stages;
    return [
      el("h3", {}, "Training trace"),
      el(
        "p",
        { class: "note" },
        "The report has no training trace: model files do not hold one. A report that is made right after the fit has it.",
      ),
    ];
  }

  stage(stage, content) {
    if (Array.isArray(content)) {
      if (!content.length) return null;
      return el(
        "div",
        {},
        el("h3", {}, `Training: ${stage}`),
        table(
          ["stage", stage],
          content.map(([k, v]) => [k, plain(v, 3)]),
          { "aria-label": stage },
        ),
      );
    }
    const { steps, n_steps } = content;
    if (!steps.length) return null;
    const keys = traceKeys(steps);
    const numeric = keys.find(
      (key) =>
        /score|loss|objective|value|likelihood|rate/.test(key) &&
        steps.every((s) => typeof s[key] === "number"),
    );
    const shown = steps.slice(0, MAX_STEPS);
    return el(
      "div",
      {},
      el("h3", {}, `Training trace: ${stage}`),
      numeric && steps.length > 2
        ? el(
            "div",
            { class: "narrow" },
            lineChart(
              steps.map((s) => s[numeric]),
              `${numeric} by step`,
            ),
            el("p", { class: "note" }, numeric),
          )
        : null,
      table(
        keys,
        shown.map((step) => keys.map((key) => shorten(plain(step[key] ?? null), 80))),
        { "aria-label": `Training trace: ${stage}` },
      ),
      n_steps > shown.length
        ? el(
            "p",
            { class: "note" },
            `The first ${shown.length} of ${n_steps.toLocaleString("en")} steps.`,
          )
        : null,
    );
  }
}
