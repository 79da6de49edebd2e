// Unpacks the script of the page and runs it: the content-security policy has its hash.

import { unpackText } from "./binary_text.js";

try {
  const bytes = await unpackText(document.getElementById("script").textContent);
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = new TextDecoder().decode(bytes);
  document.body.append(script);
} catch (error) {
  document
    .getElementById("notice")
    .append(
      `This page could not be shown: ${error.message}. It needs a browser of 2024 or later.`,
    );
  throw error;
}
