#!/usr/bin/env python3
"""Opens the page of a migration plan in headless Chromium, in light and in dark, on a wide and on a narrow screen.

    browser.py [--shots FOLDER]

It checks that the page's figures are the plan's, that the page logs nothing and loads nothing, that it fits into 320 pixels,
that every text has enough contrast, and that every picture has a description. `.ci/setup browser` installs Chromium;
CHROMIUM=<path> selects another one.
"""

import argparse
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import processes

WIDTHS = [1280, 768, 390, 320]
SCHEMES = {"light": 1, "dark": 0}

# Examines the page inside a frame for each width, and reports the results.
PROBE = """
const all = [];
document.querySelectorAll('iframe').forEach(frame => { frame.addEventListener('load', () => setTimeout(() => {
  const page = frame.contentDocument, view = frame.contentWindow, found = {};
  page.querySelectorAll('details').forEach(each => each.open = true);
  const root = page.documentElement;
  found.width = root.scrollWidth; found.room = root.clientWidth;
  found.figures = [...page.querySelectorAll('[data-figure]')].map(e => [e.dataset.figure, Number(e.dataset.value), e.textContent]);
  found.headings = page.querySelectorAll('h1').length; found.language = root.lang;
  found.scripts = page.querySelectorAll('script, link[rel=stylesheet], img, iframe, video, audio, object, embed').length;
  found.pictures = [...page.querySelectorAll('svg')].filter(e => e.getAttribute('role') !== 'img' || !e.getAttribute('aria-label')).length;
  found.cells = [...page.querySelectorAll('th')].filter(e => !e.scope).length;
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const ground = e => { for (; e; e = e.parentElement) { const c = numbers(view.getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  found.pale = [...page.body.querySelectorAll('*')].filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())).map(e => {
    const [one, two] = [light(numbers(view.getComputedStyle(e).color)), light(ground(e))].sort((a, b) => b - a);
    return [e.textContent.trim().slice(0, 40), (one + .05) / (two + .05)];
  }).filter(([, ratio]) => ratio < 4.5);
  all.push(found);
  document.body.dataset.found = JSON.stringify(all);
}, 50));
frame.srcdoc = document.querySelector('template').content.textContent; });
"""


class Browser:
    def __init__(self):
        names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
        self.command = next((path for name in names if name and (path := shutil.which(name))), None)
        if not self.command:
            sys.exit("browser: there is no Chromium; `.ci/setup browser` installs it.")

    def run(self, scheme, *words):
        return subprocess.run(
            [self.command, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--v=0",
             f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", "--virtual-time-budget=3000", *words],
            capture_output=True, timeout=1200,
        )

    def probe(self, page, scheme):
        """Returns the results of the examination at each width."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "probe.html")
            text = html.escape(page, quote=False)
            file.write_text(
                "<!doctype html><meta charset=utf-8><body>"
                + "".join(f"<iframe style='width:{width}px;height:2000px;border:0'></iframe>" for width in WIDTHS)
                + f"<template>{text}</template><script>{PROBE}</script>", encoding="utf-8",
            )
            done = self.run(scheme, "--window-size=1400,2100", "--dump-dom", file.as_uri())
        found = re.search(r'data-found="([^"]*)"', done.stdout.decode())
        if not found:
            raise RuntimeError(f"the page was not looked at: {done.stderr.decode()[-500:]}")
        views = sorted(json.loads(html.unescape(found.group(1))), key=lambda view: -view["room"])
        if [view["room"] for view in views] != WIDTHS:
            raise RuntimeError(f"the page was looked at in other widths: {[view['room'] for view in views]}")
        return views

    def shoot(self, page, width, height, scheme, shot):
        done = self.run(scheme, f"--window-size={width},{height}", f"--screenshot={shot}", page.as_uri())
        return [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line]


def at(plan, path):
    """Returns the plan's value at a path such as `losses.3.count`."""
    for step in path.split("."):
        plan = plan[int(step)] if isinstance(plan, list) else plan[step]
    return plan


def sample(folder):
    """Writes a source with an example of everything that a page shows."""
    people = []
    for number in range(400):
        person = {"identifiers": [{"kind": "external", "value": f"c-{number}"}, {"kind": "email", "value": f"p{number % 390}@mail.example"}]}
        person["attributes"] = {"city": "Oulu", "likes": ["tea"], "points": number, "gender": "female" if number % 2 else "x"}
        if number % 3 == 0:
            person["attributes"]["a_name_of_an_attribute_that_never_seems_to_end_and_has_no_blank"] = True
            person["identifiers"][1]["value"] = person["identifiers"][1]["value"].upper()
        person["subscriptions"] = [{"channel": "email", "state": ["subscribed", "unsubscribed", "suspended", "unknown"][number % 4]}]
        person["consents"] = [{"purpose": "messaging", "state": "denied" if number % 7 == 0 else "granted"}]
        if number % 2:
            token = {"value": f"{number % 150:064x}", "service": "apns", "environment": "production"}
            person["devices"] = [{"pushToken": token if number % 20 != 1 else {"value": "x", "service": "fcm"}}]
        if number % 50 == 0:
            person["identifiers"] = person["identifiers"][:1]
        if number % 5 == 0:
            person["tags"] = ["<b>&amp;"]
        people.append(json.dumps(person))
    (folder / "people & co.ndjson").write_text("\n".join(people + ['{"oops']) + "\n")
    return folder / "people & co.ndjson"


def pages(folder):
    """Yields pages with their plans: of a source with everything, of the demo's source, and of one without a readable contact."""
    settings = folder / "settings.json"
    settings.write_text(json.dumps({"to": {"dbId": 7, "resourceId": 3}}))
    unreadable = folder / "unreadable.ndjson"
    unreadable.write_text("no contact\n")
    sources = {
        "busy": ("neutral.contacts", sample(folder)), "rows": ("salesforce.contacts", processes.ROOT / "Examples/Data/salesforce-contacts.csv"),
        "unreadable": ("neutral.contacts", unreadable),
    }
    for name, (form, file) in sources.items():
        page = folder / f"{name}.html"
        done = processes.run(
            "migrate", "plan", "--from", form, "--to", "altcraft.profiles", "--settings", settings, "--in", file, "--html", page,
            "--json", "--rate", 2,
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr.decode())
        yield name, page, json.loads(done.stdout)


def problems(browser, name, page, plan, shots):
    text = page.read_text(encoding="utf-8")
    for scheme in SCHEMES:
        for width, found in zip(WIDTHS, browser.probe(text, scheme)):
            where = f"{name}, {scheme}, {width} px"
            if found["width"] > found["room"]:
                yield f"{where}: the page is {found['width']} px wide"
            for place, value, shown in found["figures"]:
                if at(plan, place) != value or shown != f"{value:,}":
                    yield f"{where}: {place} shows {shown}, and the plan says {at(plan, place)}"
            if name != "unreadable" and len(found["figures"]) < 12:
                yield f"{where}: only {len(found['figures'])} figures"
            for what in ("scripts", "pictures", "cells"):
                if found[what]:
                    yield f"{where}: {found[what]} {what} that should not be so"
            if (found["headings"], found["language"]) != (1, "en"):
                yield f"{where}: {found['headings']} main headings, language {found['language']}"
            for words, ratio in found["pale"]:
                yield f"{where}: \"{words}\" has a contrast of {ratio:.1f}"
        for width, height in [(1280, 5000), (500, 6000)]:
            for line in browser.shoot(page, width, height, scheme, shots / f"{name}-{scheme}-{width}.png"):
                yield f"{name}, {scheme}: {line}"
    if re.search(r"""(src|href)=(?!["']?data:,)|://|url\(|@import""", text):
        yield f"{name}: the page refers to something outside"


def main():
    parser = argparse.ArgumentParser(description="Opens pages in headless Chromium.")
    parser.add_argument("--shots", type=pathlib.Path, default=processes.ROOT / ".build/browser")
    shots = parser.parse_args().shots
    shots.mkdir(parents=True, exist_ok=True)
    browser, count = Browser(), 0
    with tempfile.TemporaryDirectory() as folder:
        for name, page, plan in pages(pathlib.Path(folder)):
            for problem in problems(browser, name, page, plan, shots):
                count += 1
                print(f"  {problem}")
            print(f"  {name}: {len(SCHEMES) * len(WIDTHS)} views", flush=True)
    print(f"browser: {count} problems; the pictures are in {shots}")
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
