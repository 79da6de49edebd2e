// Posteriors, questions and flips of a packed model for rows of codes, as JSON on
// standard output.

import { readFileSync } from "node:fs";
import { readModel } from "../../../src/tanager/report/page/model.js";
import { modelDocument } from "../../../src/tanager/report/page/network_document.js";
import { softmax } from "../../../src/tanager/report/page/numerics.js";
import { readPayload } from "../../../src/tanager/report/page/payload.js";
import { cheapestFlip } from "../../../src/tanager/report/page/class_flips.js";
import { nextQuestions } from "../../../src/tanager/report/page/information_gain.js";
import {
  effectOfFeature,
  effectOfPair,
  featurePairs,
} from "../../../src/tanager/report/page/network_effects.js";

const { payload, rows, nAnswers } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const content = await readPayload(payload);
const model = readModel(content);
const posteriors = rows.map((codes) =>
  Array.from(softmax(model.logScores([...codes, model.nClasses]))),
);
const terms = rows.map((codes) => model.terms([...codes, model.nClasses], 1, 0));
// The cheapest change, when its search has ended.
function findFlip(codes, loo) {
  const search = cheapestFlip(model, content.header.variables, codes, loo);
  let step = search.next();
  while (!step.done) step = search.next();
  return step.value;
}
const answers = rows.slice(0, nAnswers).map((row) => {
  const codes = [...row, model.nClasses];
  const loo = model.leaveOneOut(codes);
  return {
    questions: nextQuestions(model, codes, loo),
    flip: findFlip(codes, loo),
  };
});
// Effects of all features and some pairs of a network with CPTs.
function findEffects() {
  if (content.header.kind !== "cpts") return [];
  const features = model.order.filter((v) => v !== model.target);
  const marginals = model.leaveOneOut(model.nStates);
  return [
    ...features.map((j) => effectOfFeature(model, marginals, j)),
    ...featurePairs(model, features)
      .slice(0, 6)
      .map((pair) => effectOfPair(model, marginals, pair)),
  ].map(({ features, shape, weights, support }) => ({
    features,
    shape,
    weights: Array.from(weights),
    support: Array.from(support),
  }));
}
const effects = findEffects();
const document = modelDocument(content.header, model);
process.stdout.write(JSON.stringify({ posteriors, terms, answers, effects, document }));
