// Elements from plain values. Text is always a text node, never HTML.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "width%") node.style.width = `${value}%`;
    else if (name === "left%") node.style.left = `${value}%`;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

export function replace(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null));
}

export function byId(id) {
  return document.getElementById(id);
}

export function shorten(text, length) {
  const whole = String(text);
  return whole.length <= length ? whole : `${whole.slice(0, length - 1)}…`;
}

export function percent(p, digits = 1) {
  if (p > 0 && p < 0.5 * 10 ** -(digits + 2))
    return `<${(10 ** -digits).toFixed(digits)} %`;
  return `${(100 * p).toFixed(digits)} %`;
}

export function signed(value, digits = 2) {
  if (!Number.isFinite(value)) return value > 0 ? "+∞" : value < 0 ? "−∞" : "–";
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

export function plain(value, digits = 4) {
  if (typeof value !== "number") return value === null ? "–" : String(value);
  return Number.isInteger(value)
    ? value.toLocaleString("en")
    : value.toPrecision(digits);
}

export function table(head, rows, attributes = {}) {
  return el(
    "div",
    {
      class: "scroll",
      tabindex: 0,
      role: "group",
      "aria-label": attributes["aria-label"],
    },
    el(
      "table",
      attributes,
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head.map((text) => el("th", { scope: "col" }, text)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((cell, i) =>
              i === 0
                ? el("th", { scope: "row" }, cell)
                : el(
                    "td",
                    {
                      class:
                        typeof cell === "string" && isNumber(cell) ? "number" : null,
                    },
                    cell,
                  ),
            ),
          ),
        ),
      ),
    ),
  );
}

function isNumber(text) {
  return /^[−+<]?\d[\d,]*(\.\d+)?(e[-+]\d+)?( %)?( to [\d.]+ %)?$/.test(text);
}

export function select(options, value, onchange, attributes = {}) {
  const node = el(
    "select",
    { ...attributes, onchange: () => onchange(Number(node.value)) },
    options.map((text, i) => el("option", { value: i }, shorten(text, 60))),
  );
  node.value = String(value);
  return node;
}

export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", ...attributes, onclick }, text);
}
