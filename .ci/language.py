#!/usr/bin/env python3
"""Counts retired words and phrases (.ci/retired-words.txt) per folder and compares the counts with a baseline.

    language.py            fails if a count is above the baseline; says so if the baseline can be lowered
    language.py --lower    lowers the baseline to the present counts; never raises it

Counted are Swift, Python, Markdown and JSON schema files under version control. Identifiers are split at camel case. The
texts of findings (reason, remedy, detail) are counted again under "findings". README, glossary, help texts (as the command
reference has them) and the generated table of capabilities must not contain a retired word, whatever the baseline says.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORDS = ROOT / ".ci/retired-words.txt"
BASELINE = ROOT / ".ci/language-baseline.json"
ENDINGS = (".swift", ".py", ".md", ".schema.json")
SPOTS_SHOWN = 12
CATALOGUE = "Sources/Patchbay/Documentation.docc"
CLEAN = ["README.md", f"{CATALOGUE}/Glossary.md", f"{CATALOGUE}/CommandReference.md", f"{CATALOGUE}/Capabilities.md"]
# Standard terms that contain a retired word.
STANDARD = re.compile(r"\bline endings?\b|\bcurlopt nobody\b")
FINDING = re.compile(r'\b(?:reason|remedy|detail):\s*"((?:[^"\\]|\\.)*)"')


def patterns():
    """The words with their replacements, and one expression that finds them all."""
    rows = [line.split(" = ") for line in WORDS.read_text(encoding="utf-8").splitlines() if " = " in line]
    words = {word.strip(): instead.strip() for word, instead in rows if not word.startswith("#")}
    parts = [re.escape(word.rstrip("*")).replace(r"\ ", r"\s+") + (r"\w*" if word.endswith("*") else "")
             for word in sorted(words, key=len, reverse=True)]
    return words, re.compile(rf"\b(?:{'|'.join(parts)})\b")


def word_of(text, words):
    """The line of the list that a find belongs to."""
    text = " ".join(text.split())
    return text if text in words else max((w for w in words if w.endswith("*") and text.startswith(w[:-1])), key=len)


def split(text):
    """Lower-case text in which identifiers are split at camel case, with the same line breaks."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text).lower()


def find():
    """Every find, by folder and word, as path and line."""
    words, pattern = patterns()
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    finds = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in filter(None, names.split("\0")):
        path = ROOT / name
        if not name.endswith(ENDINGS) or name == ".ci/language.py" or not path.is_file():
            continue
        text = STANDARD.sub("", split(path.read_text(encoding="utf-8")))
        parts = name.split("/")
        folder = "/".join(parts[:2]) if len(parts) > 2 else parts[0]
        folder = name if name in CLEAN else folder
        for match in pattern.finditer(text):
            finds[folder][word_of(match.group(), words)].append((name, text.count("\n", 0, match.start()) + 1))
        if name.endswith(".swift") and parts[0] in ("Sources", "Adapters") and "Tests" not in parts:
            for finding in FINDING.finditer(path.read_text(encoding="utf-8")):
                for match in pattern.finditer(split(finding.group(1))):
                    line = text.count("\n", 0, finding.start()) + 1
                    finds["findings"][word_of(match.group(), words)].append((name, line))
    return words, finds


def main():
    words, finds = find()
    baseline = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else None
    counts = {folder: {word: len(spots) for word, spots in sorted(found.items())} for folder, found in sorted(finds.items())}
    if baseline is None:
        baseline = counts
    baseline = {folder: found for folder, found in baseline.items() if folder not in CLEAN}
    above = [(folder, word) for folder, found in counts.items() for word, count in found.items()
             if count > baseline.get(folder, {}).get(word, 0)]
    for folder, word in above:
        spots = finds[folder][word]
        print(f'language: {folder} has "{word}" {len(spots)} times, the baseline is '
              f"{baseline.get(folder, {}).get(word, 0)}. Write: {words[word]}.")
        for path, line in spots[-SPOTS_SHOWN:]:
            print(f"  {path}:{line}")
    lowered = {folder: {word: min(count, counts.get(folder, {}).get(word, 0)) for word, count in found.items()
                        if counts.get(folder, {}).get(word, 0)}
               for folder, found in baseline.items() if folder in counts}
    lowered = {folder: found for folder, found in lowered.items() if found}
    if "--lower" in sys.argv[1:]:
        BASELINE.write_text(json.dumps(lowered, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    elif lowered != baseline and not above:
        print("language: fewer retired words than the baseline says. Run `make format` to lower it, and commit it.")
    total = sum(sum(found.values()) for found in counts.values())
    if above:
        sys.exit(1)
    print(f"language: {total} retired words are left, none above the baseline")


if __name__ == "__main__":
    main()
