// Posteriors of a packed model for rows of codes, as JSON on standard output.

import { readFileSync } from "node:fs";
import { readModel } from "../../../src/tanager/report/page/model.js";
import { modelDocument } from "../../../src/tanager/report/page/network_document.js";
import { softmax } from "../../../src/tanager/report/page/numerics.js";
import { readPayload } from "../../../src/tanager/report/page/payload.js";

const { payload, rows } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const content = await readPayload(payload);
const model = readModel(content);
const posteriors = rows.map((codes) =>
  Array.from(softmax(model.logScores([...codes, model.nClasses]))),
);
const terms = rows.map((codes) => model.terms([...codes, model.nClasses], 1, 0));
const document = modelDocument(content.header, model);
process.stdout.write(JSON.stringify({ posteriors, terms, document }));
