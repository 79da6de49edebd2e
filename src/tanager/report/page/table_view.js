// The CPT of a variable, for one configuration of its feature parents, with an editor.

import { button, el, numberForm, percent, replace, select, shorten } from "./dom.js";
import { withProbability } from "./edits.js";

const MAX_COLUMNS = 40;
const MAX_ROWS = 40;

export class TableView {
  constructor(app, variable, place) {
    Object.assign(this, { app, variable, place });
    const { model } = app;
    const own = model.tables.filter((table) => table.owner === variable);
    const family = [...model.parents[variable], variable];
    this.table =
      own.length === 1 && own[0].axes.length === family.length ? own[0] : null;
    this.others = model.parents[variable].filter((p) => p !== app.target);
    // The states of the parents: those of the evidence, or the first.
    this.given = new Map(
      this.others.map((p) => [p, model.isObserved(app.codes, p) ? app.codes[p] : 0]),
    );
    this.hasClass = model.parents[variable].includes(app.target);
    this.firstColumn = 0;
    this.firstRow = 0;
    this.cell = [0, 0];
    this.draw();
  }

  // Place in the table of a class (or 0) and a state.
  placeOf(row, state) {
    return this.table.axes.reduce((sum, v, i) => {
      let code = this.given.get(v) ?? 0;
      if (v === this.variable) code = state;
      else if (v === this.app.target) code = row;
      return sum + code * this.table.strides[i];
    }, 0);
  }

  draw() {
    const { app, variable } = this;
    const { states, name } = app.variables[variable];
    const title =
      this.others.length || this.hasClass
        ? `P(${name} | ${app.model.parents[variable].map((p) => app.variables[p].name).join(", ")})`
        : `P(${name})`;
    const head = el("h3", {}, shorten(title, 120));
    if (this.table === null) {
      replace(
        this.place,
        head,
        el(
          "p",
          {},
          "This CPT is a product of several smaller tables, so that it is not shown or edited entry by entry.",
        ),
      );
      return;
    }
    const pickers = this.others.map((p) =>
      el(
        "label",
        {},
        `${shorten(app.variables[p].name, 30)} `,
        select(app.variables[p].states.map(String), this.given.get(p), (code) => {
          this.given.set(p, code);
          this.draw();
        }),
      ),
    );
    const rows = this.hasClass ? app.variables[app.target].states : [""];
    const shownRows = rows.slice(this.firstRow, this.firstRow + MAX_ROWS);
    const shown = states.slice(this.firstColumn, this.firstColumn + MAX_COLUMNS);
    const grid = el(
      "div",
      { class: "scroll", tabindex: 0, role: "group", "aria-label": title },
      el(
        "table",
        { class: "cpt" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el(
              "th",
              { scope: "col" },
              this.hasClass ? shorten(app.variables[app.target].name, 20) : "",
            ),
            shown.map((state) => el("th", { scope: "col" }, shorten(state, 18))),
          ),
        ),
        el(
          "tbody",
          {},
          shownRows.map((label, i) => this.row(this.firstRow + i, label, shown)),
        ),
      ),
    );
    replace(
      this.place,
      head,
      pickers.length ? el("div", { class: "pickers" }, pickers) : null,
      grid,
      this.pager("columns", states.length, MAX_COLUMNS, "firstColumn"),
      this.pager("rows", rows.length, MAX_ROWS, "firstRow"),
      this.editor(states, rows),
    );
  }

  row(row, label, shown) {
    const cells = shown.map((state, i) => {
      const v = this.firstColumn + i;
      const p = Math.exp(this.table.values[this.placeOf(row, v)]);
      const chosen = this.cell[0] === row && this.cell[1] === v;
      return el(
        "td",
        {},
        el("span", { class: "fill", "width%": 100 * p }),
        button(
          percent(p),
          () => {
            this.cell = [row, v];
            this.draw();
            this.place.querySelector(".editor input")?.focus();
          },
          {
            class: chosen ? "cell chosen" : "cell",
            "aria-label": `${label === "" ? "" : `${label}, `}${state}: ${percent(p)}. Edit`,
          },
        ),
      );
    });
    return el("tr", {}, el("th", { scope: "row" }, shorten(label, 24)), cells);
  }

  pager(what, n, most, first) {
    if (n <= most) return null;
    const move = (step) => () => {
      this[first] = Math.max(0, Math.min(n - 1, this[first] + step));
      this.draw();
    };
    const last = Math.min(n, this[first] + most);
    return el(
      "p",
      { class: "pager" },
      button("‹", move(-most), {
        "aria-label": `Previous ${what}`,
        disabled: this[first] === 0,
      }),
      ` ${what} ${this[first] + 1} to ${last} of ${n.toLocaleString("en")} `,
      button("›", move(most), { "aria-label": `Next ${what}`, disabled: last === n }),
    );
  }

  editor(states, rows) {
    if (states.length < 2) return null;
    const [row, state] = this.cell;
    const p = Math.exp(this.table.values[this.placeOf(row, state)]);
    const label = `P(${shorten(states[state], 24)}${this.hasClass ? ` | ${shorten(rows[row], 24)}` : ""})`;
    return numberForm({
      value: Number((100 * p).toPrecision(6)),
      low: 0,
      high: 100,
      label: "New probability in percent",
      before: `${label} = `,
      after: " % ",
      onset: (value) => this.set(value / 100),
    });
  }

  set(probability) {
    const { app, variable } = this;
    const [row, state] = this.cell;
    const places = app.variables[variable].states.map((_, v) => this.placeOf(row, v));
    const values = withProbability(
      places.map((k) => this.table.values[k]),
      state,
      probability,
    );
    const { name, states } = app.variables[variable];
    app.edits.apply(
      `P(${name} = ${states[state]}) set to ${percent(probability)}`,
      this.table.values,
      places,
      values,
    );
  }
}
