"""A headless Chromium with its driver, and reports opened in it."""

import base64
import json
import shutil
import time

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))),
    None,
)
DRIVER = shutil.which("chromedriver")
READY_SECONDS = 20


class Page:
    """A report in the browser."""

    def __init__(self, driver, path):
        self.driver = driver
        driver.get_log("performance")
        driver.get_log("browser")
        driver.get(path.resolve().as_uri())
        end = time.monotonic() + READY_SECONDS
        while self.run("return document.documentElement.dataset.ready") != "true":
            assert time.monotonic() < end, driver.get_log("browser")
            time.sleep(0.02)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.run(
            "return document.querySelector(arguments[0]).innerText", selector
        )

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def probabilities(self):
        data = self.run("return document.getElementById('posterior').dataset")
        return json.loads(data["probabilities"])

    def show_all_features(self):
        self.run(
            "for (const b of document.querySelectorAll('#evidence button.wide'))"
            " if (b.textContent.startsWith('Show all')) b.click();"
        )

    def set_evidence(self, rows):
        """Set the controls to rows of codes; returns posteriors and milliseconds."""
        found, slowest = [], 0.0
        for start in range(0, len(rows), 20):  # below the time limit of a script
            posteriors, spent = self.run(SET_EVIDENCE, rows[start : start + 20], start)
            found += posteriors
            slowest = max(slowest, spent)
        return found, slowest

    def errors(self):
        found = self.driver.get_log("browser")
        return [entry["message"] for entry in found if entry["level"] != "DEBUG"]

    def requests(self):
        """Addresses of all requests since the page was opened."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def resize(self, width, height):
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def prefer(self, scheme):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.cdp("Emulation.setEmulatedMedia", features=[feature])

    def pdf(self):
        return base64.b64decode(self.cdp("Page.printToPDF")["data"])


# One control of every row is used, each in turn; the others follow the codes.
SET_EVIDENCE = """
const { app } = window.tanagerReport;
const posteriors = [];
let slowest = 0;
arguments[0].forEach((codes, row) => {
  codes.forEach((code, j) => (app.codes[j] = code));
  const j = (arguments[1] + row) % codes.length;
  const code = codes[j];
  const control = document.querySelector(`[data-feature="${j}"]`);
  if (control.type === "range") {
    if (code <= Number(control.max)) {
      control.value = String(code);
      control.dispatchEvent(new Event("input"));
    } else {
      const missing = document.querySelector(`[data-missing="${j}"]`);
      const isMissing = missing !== null && code === Number(control.max) + 1;
      (isMissing ? missing : document.querySelector(`[data-unknown="${j}"]`)).click();
    }
  } else {
    control.value = String(code);
    control.dispatchEvent(new Event("change"));
  }
  const { probabilities } = document.getElementById("posterior").dataset;
  posteriors.push(JSON.parse(probabilities));
  const { milliseconds } = document.getElementById("timing").dataset;
  slowest = Math.max(slowest, Number(milliseconds));
});
return [posteriors, slowest];
"""


def make_driver(downloads):
    """A driver of a fresh browser; skips the test where there is none."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium or chromedriver is not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    options.add_argument("--disable-dev-shm-usage")
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    driver.set_window_size(1280, 900)
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior",
        {"behavior": "allow", "downloadPath": str(downloads)},
    )
    return driver
