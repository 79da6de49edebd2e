// Variables with their states; intervals are made from the cut points again.
// The Python side is model_data.py.

const DIGITS = [6, 9, 12, 17];

export function readVariables(header, arrays) {
  let place = 0;
  return header.variables.map((entry) => {
    if (entry.n_cuts === undefined) return entry;
    const { name, ordered, missing_state, n_cuts, decimals, others, unit } = entry;
    const cuts = readCuts(arrays.cuts, place, n_cuts, decimals);
    place += n_cuts;
    const states = [...(entry.states ?? intervals(cuts)), ...others];
    return { name, states, ordered, cuts, missing_state, unit: unit ?? null };
  });
}

// Whether the model does not use a column, such as one of identifiers.
export function isLeftOut({ cuts, states }) {
  return cuts?.length === 0 && states.length === 1 && states[0] === "(left out)";
}

// Texts of the cut points as the intervals have them: numbers, dates or times.
export function cutTexts({ cuts, states }) {
  return cuts.map((_, i) => states[i].slice(states[i].indexOf(", ") + 2, -1));
}

// Dates with times as dates alone if these differ, as times if all are equal.
export function shortenTimes(texts) {
  const parts = texts.map((text) => text.split(" "));
  const isTime = ([date, time]) => time !== undefined && date.split("-").length === 3;
  if (!parts.every((part) => part.length === 2 && isTime(part))) return texts;
  const dates = new Set(parts.map(([date]) => date));
  if (dates.size === parts.length) return parts.map(([date]) => date);
  return dates.size === 1 ? parts.map(([, time]) => time) : texts;
}

// States of a variable without that for missing values.
export function countValues({ states, missing_state }) {
  return states.length - (missing_state ? 1 : 0);
}

// Whole numbers of 64 bits: multiples of 10^-decimals, or the bits of the number.
function readCuts({ high, low }, start, size, decimals) {
  const view = new DataView(new ArrayBuffer(8));
  return Array.from({ length: size }, (_, i) => {
    let [upper, lower] = [high[start + i], low[start + i]];
    if (decimals >= 0) return (upper * 2 ** 32 + lower) / 10 ** decimals;
    if (upper < 0) [upper, lower] = [upper ^ 0x7fffffff, ~lower];
    view.setInt32(0, upper);
    view.setUint32(4, lower >>> 0);
    return view.getFloat64(0);
  });
}

// The labels of intervals between cut points, as Variable.binned makes them.
export function intervals(cuts) {
  let texts = [];
  for (const digits of DIGITS) {
    texts = cuts.map((cut) => generalFormat(cut, digits));
    if (new Set(texts).size === texts.length) break;
  }
  const starts = ["-inf", ...texts];
  return [
    ...texts.map((text, i) => `(${starts[i]}, ${text}]`),
    `(${starts[texts.length]}, inf)`,
  ];
}

// A number as Python's format "g" writes it.
export function generalFormat(x, digits) {
  if (x === 0) return Object.is(x, -0) ? "-0" : "0";
  const oneMore = x.toPrecision(digits + 1);
  const mayTie = oneMore.endsWith("5") && Number(oneMore) === x;
  if (Math.abs(x) >= 1e-4 && !mayTie) {
    const text = x.toPrecision(digits);
    if (!text.includes("e")) return trimZeros(text);
  }
  const [mantissa, exponent] = roundToEven(x, digits);
  const power = Number(exponent);
  const sign = x < 0 ? "-" : "";
  if (power < -4 || power >= digits) {
    const text = trimZeros(`${mantissa[0]}.${mantissa.slice(1)}`);
    return `${sign}${text}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  if (power < 0) return sign + trimZeros(`0.${"0".repeat(-power - 1)}${mantissa}`);
  return (
    sign + trimZeros(`${mantissa.slice(0, power + 1)}.${mantissa.slice(power + 1)}`)
  );
}

// Significant digits and exponent; ties go to the even digit, as in Python.
function roundToEven(x, digits) {
  const [exact, power] = Math.abs(x).toExponential(60).split("e");
  const all = exact.replace(".", "");
  const isTie = /^50*$/.test(all.slice(digits));
  if (isTie && Number(all[digits - 1]) % 2 === 0) return [all.slice(0, digits), power];
  const [rounded, exponent] = Math.abs(x)
    .toExponential(digits - 1)
    .split("e");
  return [rounded.replace(".", ""), exponent];
}

function trimZeros(text) {
  if (!text.includes(".")) return text;
  let end = text.length;
  while (text[end - 1] === "0") end--;
  return text.slice(0, text[end - 1] === "." ? end - 1 : end);
}
