// The network as a picture: pan, zoom, search, and select a node.

import { button, byId, el, replace, shorten, svg } from "./dom.js";
import { layeredLayout } from "./graph_layout.js";

const FIRST_NODES = 40;
const MAX_FACTORS = 300;
const [NODE_WIDTH, NODE_HEIGHT, STEP_X, STEP_Y] = [120, 30, 136, 74];

export class GraphView {
  constructor(app) {
    this.app = app;
    this.all = app.features.length <= FIRST_NODES;
    this.selected = null;
    this.isDirected = app.header.parents !== undefined;
    this.draw();
    this.makeTools();
  }

  // The features of every factor, the most important first where the weights are known.
  scopes() {
    const { header, importance } = this.app;
    if (header.kind === "factors") return importance.map(({ features }) => features);
    return header.scopes;
  }

  // Pairs of features that share a family or factor, parents first.
  featureEdges() {
    const { header, target } = this.app;
    const pairs = new Map();
    const add = (a, b) => pairs.set(`${a} ${b}`, [a, b]);
    if (!this.isDirected) {
      // The most important factors first; the picture of very many says nothing.
      for (const features of this.scopes().slice(0, MAX_FACTORS)) {
        features.forEach((a, i) => features.slice(i + 1).forEach((b) => add(a, b)));
      }
    } else {
      header.parents.forEach((parents, child) => {
        for (const p of parents) if (p !== target && child !== target) add(p, child);
      });
    }
    return [...pairs.values()];
  }

  // Arcs between the class and features.
  classEdges() {
    const { header, target } = this.app;
    if (!this.isDirected)
      return [...new Set(this.scopes().flat())].map((j) => [target, j]);
    const found = [];
    header.parents.forEach((parents, child) => {
      for (const p of parents)
        if (p === target || child === target) found.push([p, child]);
    });
    return found;
  }

  draw() {
    const { app } = this;
    const shown = this.all ? app.features : app.ranked.slice(0, FIRST_NODES);
    if (
      this.selected !== null &&
      this.selected !== app.target &&
      !shown.includes(this.selected)
    ) {
      shown.push(this.selected);
    }
    const visible = new Set(shown);
    const edges = this.featureEdges().filter(
      ([a, b]) => visible.has(a) && visible.has(b),
    );
    const ordered = app.features.filter((j) => visible.has(j));
    const places = layeredLayout(ordered, edges);
    places.set(app.target, { x: 0, y: 0 });
    this.points = new Map(
      [...places].map(([v, { x, y }]) => [v, [x * STEP_X, y * STEP_Y]]),
    );
    const classArcs = this.classEdges().filter(
      ([a, b]) => places.has(a) && places.has(b),
    );
    const directed = this.isDirected;
    const arcs = edges.map((arc) => [arc, this.line(arc, "arc", directed)]);
    this.arcs = arcs;
    const lines = [
      ...classArcs.map((arc) => this.line(arc, "class-arc", directed)),
      ...arcs.map(([, line]) => line),
    ];
    this.nodes = new Map([...places.keys()].map((v) => [v, this.node(v)]));
    const marker = svg(
      "marker",
      {
        id: "arrow",
        viewBox: "0 0 8 8",
        refX: 8,
        refY: 4,
        markerWidth: 7,
        markerHeight: 7,
        orient: "auto",
      },
      svg("path", { d: "M0,0 L8,4 L0,8 z", class: "arrow" }),
    );
    this.picture = svg(
      "svg",
      {
        class: "graph",
        tabindex: 0,
        role: "group",
        "aria-label":
          "Network. Arrow keys move, plus and minus zoom, tab goes to the nodes.",
        onkeydown: (event) => this.key(event),
        onwheel: (event) => this.wheel(event),
        onpointerdown: (event) => this.drag(event),
      },
      svg("defs", {}, marker),
      ...lines,
      ...this.nodes.values(),
    );
    replace(byId("graph"), this.picture);
    this.fit();
    this.mark();
  }

  line([a, b], className, directed) {
    const [[x1, y1], [x2, y2]] = [this.points.get(a), this.points.get(b)];
    const [dx, dy] = [x2 - x1, y2 - y1];
    // End at the border of the node.
    const scale = Math.min(
      NODE_WIDTH / 2 / Math.max(1e-9, Math.abs(dx)),
      NODE_HEIGHT / 2 / Math.max(1e-9, Math.abs(dy)),
    );
    const [ex, ey] = [x2 - dx * scale, y2 - dy * scale];
    // Arcs within a row bend around the nodes between their ends.
    const bend = dy === 0 && Math.abs(dx) > STEP_X ? -34 : 0;
    const d = bend
      ? `M${x1},${y1 - NODE_HEIGHT / 2} Q${(x1 + x2) / 2},${y1 + 2 * bend} ${x2},${y2 - NODE_HEIGHT / 2}`
      : `M${x1},${y1} L${ex},${ey}`;
    return svg("path", {
      d,
      class: className,
      "marker-end": directed && className === "arc" ? "url(#arrow)" : null,
    });
  }

  node(v) {
    const { app } = this;
    const [x, y] = this.points.get(v);
    const name = app.variables[v].name;
    const select = () => app.selectNode(v);
    return svg(
      "g",
      {
        class: v === app.target ? "node target" : "node",
        transform: `translate(${x},${y})`,
        tabindex: 0,
        role: "button",
        "aria-label": v === app.target ? `class ${name}` : `feature ${name}`,
        "data-variable": v,
        onclick: select,
        onkeydown: (event) => {
          if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            select();
          }
        },
      },
      svg("rect", {
        x: -NODE_WIDTH / 2,
        y: -NODE_HEIGHT / 2,
        width: NODE_WIDTH,
        height: NODE_HEIGHT,
        rx: v === app.target ? 15 : 5,
      }),
      svg("text", { y: 4, "text-anchor": "middle" }, shorten(name, 17)),
      svg("title", {}, name),
    );
  }

  makeTools() {
    const { app } = this;
    const search = el("input", {
      type: "search",
      list: "variable-names",
      placeholder: "Find a variable",
      "aria-label": "Find a variable",
      onchange: () => this.find(search.value),
      onkeydown: (event) => event.key === "Enter" && this.find(search.value),
    });
    const tools = [
      search,
      button("+", () => this.zoom(0.8), { "aria-label": "Zoom in" }),
      button("−", () => this.zoom(1.25), { "aria-label": "Zoom out" }),
      button("Fit", () => this.fit()),
    ];
    if (!this.all) {
      const n = app.features.length;
      const more = button(`Show all ${n} features`, () => {
        this.all = !this.all;
        more.textContent = this.all
          ? `Show the ${FIRST_NODES} most important`
          : `Show all ${n} features`;
        this.draw();
      });
      tools.push(more);
    }
    replace(byId("graph-tools"), ...tools);
    const names = app.variables.map(({ name }) => el("option", { value: name }));
    replace(byId("variable-names"), ...names);
  }

  find(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return;
    const names = this.app.variables.map(({ name }) => name.toLowerCase());
    let v = names.indexOf(wanted);
    if (v < 0) v = names.findIndex((name) => name.includes(wanted));
    if (v < 0) return;
    this.app.selectNode(v);
    const [x, y] = this.points.get(v);
    this.view = [x - 250, y - 150, 500, 300];
    this.show();
  }

  select(v) {
    this.selected = v;
    if (!this.points.has(v)) this.draw();
    this.mark();
  }

  mark() {
    const { codes, model } = this.app;
    for (const [[a, b], line] of this.arcs) {
      line.classList.toggle("near", a === this.selected || b === this.selected);
    }
    this.nodes.forEach((node, v) => {
      node.classList.toggle("selected", v === this.selected);
      node.classList.toggle(
        "observed",
        v !== this.app.target && model !== null && codes[v] < model.nStates[v],
      );
    });
  }

  fit() {
    const xs = [...this.points.values()].map(([x]) => x);
    const ys = [...this.points.values()].map(([, y]) => y);
    const [left, top] = [Math.min(...xs) - 70, Math.min(...ys) - 30];
    this.view = [left, top, Math.max(...xs) + 70 - left, Math.max(...ys) + 40 - top];
    this.show();
  }

  show() {
    this.picture.setAttribute("viewBox", this.view.map((v) => v.toFixed(1)).join(" "));
  }

  zoom(factor, cx = 0.5, cy = 0.5) {
    const [x, y, w, h] = this.view;
    this.view = [
      x + w * cx * (1 - factor),
      y + h * cy * (1 - factor),
      w * factor,
      h * factor,
    ];
    this.show();
  }

  move(dx, dy) {
    this.view[0] += dx * this.view[2];
    this.view[1] += dy * this.view[3];
    this.show();
  }

  key(event) {
    const steps = {
      ArrowLeft: [-0.1, 0],
      ArrowRight: [0.1, 0],
      ArrowUp: [0, -0.1],
      ArrowDown: [0, 0.1],
    };
    if (event.key in steps) this.move(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(0.8);
    else if (event.key === "-") this.zoom(1.25);
    else return;
    event.preventDefault();
  }

  // Without a modifier the page scrolls.
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = this.picture.getBoundingClientRect();
    const place = [
      (event.clientX - box.left) / box.width,
      (event.clientY - box.top) / box.height,
    ];
    this.zoom(event.deltaY < 0 ? 0.85 : 1.18, ...place);
  }

  drag(event) {
    if (event.target.closest(".node")) return;
    const box = this.picture.getBoundingClientRect();
    let [x, y] = [event.clientX, event.clientY];
    const move = (next) => {
      this.move((x - next.clientX) / box.width, (y - next.clientY) / box.height);
      [x, y] = [next.clientX, next.clientY];
    };
    const end = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  }
}
