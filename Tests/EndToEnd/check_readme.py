#!/usr/bin/env python3
"""Compares README.md and the generated articles with the build, and runs every example of README.md.

    check_readme.py            compares and runs; ends with 1 if something differs or fails
    check_readme.py --write    writes the generated parts and articles instead of comparing them

Every code block of README.md has a comment in front of it:

    <!-- run -->              a shell block; all of them run in order, in a copy of the example files with a sandbox
    <!-- elsewhere: WHERE --> a block that another check runs, such as `make demo`
    <!-- NAME: SOURCE -->     a generated part, which ends with <!-- end -->
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

import processes

ROOT = processes.ROOT
README = ROOT / "README.md"
CATALOGUE = ROOT / "Sources/Patchbay/Documentation.docc"
EXAMPLE = ROOT / "Examples/SwitchProvider/Sources/SwitchProvider/main.swift"
TRANSCRIPT = ROOT / ".build/demo/transcript.txt"
SHOP = "Examples/Bookshop"
PORT = "8731"
MAXIMUM_LINES = 150
SIGNS = {"native": "yes", "emulated": "emulated", "unsupported": "–"}


def adapters():
    return json.loads(processes.run("adapters", "--json").stdout)


# Generated parts


def example():
    """The part of the example's source between the marks."""
    source = EXAMPLE.read_text(encoding="utf-8")
    return "```swift\n" + re.search(r"// README begin\n(.*?)// README end\n", source, re.DOTALL).group(1) + "```\n"


def vendors():
    """Vendors × device API, server API, files."""
    rows = []
    for folder in sorted(path for path in (ROOT / "Adapters").iterdir() if path.is_dir()):
        own = [each for each in adapters() if each["id"].split("-")[0] == folder.name.lower()]
        names = {side: [f"`{each['id']}`" for each in own if each["api"] == side] for side in ("device", "server")}
        files = sorted({f"`{form['id']}`" for each in own for form in each["formats"] if form["reads"] or form["writes"]})
        cells = [", ".join(cell) or "–" for cell in (names["device"], names["server"], files)]
        rows.append(f"| [{folder.name}](Adapters/{folder.name}/README.md) | {' | '.join(cells)} |")
    return "\n".join(["| vendor | device API | server API | files |", "|---|---|---|---|", *rows]) + "\n"


PARTS = {"example": example, "vendors": vendors}


# Generated articles


def capabilities():
    """Adapters × capabilities: what is native, emulated or unsupported. `patchbay adapters` adds the reasons."""
    every = adapters()
    names = sorted({name for each in every for name in each["capabilities"]})
    groups = {}
    for name in names:
        groups.setdefault(name.split(".")[0], []).append(name)
    lines = [
        "# Capabilities", "", "What each adapter supports.", "", "## Overview", "",
        "\"yes\" is native, \"emulated\" has the same effect by other means, and \"–\" is unsupported.",
        "`patchbay adapters` prints the note on each of them, and `patchbay compare A B` the differences of two adapters.", "",
    ]
    ids = [each["id"] for each in every]
    for group, members in groups.items():
        lines += [f"## {group.capitalize()}", "", f"| | {' | '.join(ids)} |", "|---|" + "---|" * len(ids)]
        for name in members:
            cells = [SIGNS[each["capabilities"].get(name, {}).get("support", "unsupported")] for each in every]
            lines.append(f"| {words(name)} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def words(name):
    """A capability's name in words: `contact.logIn` is "log in", `subscription.push.topics` is "push topics"."""
    last = name.split(".", 1)[1] if "." in name else name
    return RENAMED.get(last, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", last).replace(".", " ").lower())


# Names in code that the glossary replaces.
RENAMED = {"readBack": "query"}


def reference():
    return processes.run("help", "--markdown").stdout.decode()


ARTICLES = {CATALOGUE / "Capabilities.md": capabilities, CATALOGUE / "CommandReference.md": reference}


# Checks


def generated(text, is_writing, problems):
    """The README with its generated parts; a part that differs is a problem unless it is written."""
    for name, make in PARTS.items():
        place = re.search(rf"(<!-- {name}: .*?-->\n)(.*?)(<!-- end -->)", text, re.DOTALL)
        if place is None:
            sys.exit(f"README.md has no place for the {name}: <!-- {name}: … --> and <!-- end -->.")
        part = make()
        if place.group(2) != part and not is_writing:
            problems.append(f"README.md: {name} differs from what is built. Run Tests/EndToEnd/check_readme.py --write.")
        text = text[:place.start(2)] + part + text[place.end(2):]
    for path, make in ARTICLES.items():
        article = make()
        if is_writing:
            path.write_text(article, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != article:
            problems.append(f"{path.name} differs from what is built. Run Tests/EndToEnd/check_readme.py --write.")
    return text


def shape(line):
    """Returns a line without the parts that differ between runs: numbers, times, and the space that aligns them."""
    return " ".join(re.sub(r"\d+", "#", line).split())


def check_transcript(text, problems):
    """Checks that the last `make demo` printed every line of the transcript, except for the numbers."""
    block = re.search(r"<!-- elsewhere: make demo -->\n```text\n(.*?)```", text, re.DOTALL)
    lines = block.group(1).splitlines() if block else []
    if len(lines) != 12:
        problems.append(f"README.md: the transcript of `make demo` has {len(lines)} lines, not 12")
    if not TRANSCRIPT.exists():
        print("README: no demo has run here, so its transcript is not compared")
        return
    printed = {shape(line) for line in TRANSCRIPT.read_text(encoding="utf-8").splitlines()}
    problems += [f"README.md: `make demo` does not print: {line}" for line in lines[1:] if shape(line) not in printed]


def blocks(text, problems):
    """The shell blocks that run, as one script. Every other block must say what checks it."""
    others = re.sub(r"<!-- example: .*?<!-- end -->", "", text, flags=re.DOTALL)
    script = []
    for mark, language, block in re.findall(r"(?:<!-- ([^\n]*?) -->\n)?```(\w*)\n(.*?)```\n", others, re.DOTALL):
        if mark == "run" and language == "sh":
            script.append(block)
        elif not mark.startswith("elsewhere: "):
            problems.append(f"README.md: say what checks the block that begins with {block.splitlines()[0]!r}")
    return "\n".join(script)


def run(script, problems):
    """Runs a script from the README in a folder with the example files. A status above 1 is a failure."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(ROOT / SHOP, folder / SHOP)
        (folder / ".build").mkdir()
        (folder / ".build/debug").symlink_to(processes.COMMAND.parent.resolve())
        for file in (folder / SHOP).iterdir():
            file.write_text(file.read_text(encoding="utf-8").replace(PORT, port), encoding="utf-8")
        app = ROOT / ".build/examples/debug/SwitchProvider"
        if app.exists():
            script += f"\n'{app}' altcraft.json\n"
        guard = 'set -E\ntrap \'status=$?; if [ $status -gt 1 ]; then echo "$BASH_COMMAND: status $status" >&2; exit $status; fi\' ERR\n'
        done = subprocess.run(
            ["bash", "-c", guard + script.replace(PORT, port) + "\nkill $(jobs -p)\n"], cwd=folder, capture_output=True, text=True, timeout=1200,
        )
        if done.returncode > 1:
            problems.append(f"README.md: an example failed: {done.stderr[-2000:]}")
    return len(re.findall(r"^patchbay ", script, re.MULTILINE))


def main():
    is_writing, problems = "--write" in sys.argv[1:], []
    text = generated(README.read_text(encoding="utf-8"), is_writing, problems)
    if is_writing:
        README.write_text(text, encoding="utf-8")
        print("README: the generated parts and articles are written")
        return
    length = text.count("\n")
    if length > MAXIMUM_LINES:
        problems.append(f"README.md: {length} lines, {MAXIMUM_LINES} at most")
    check_transcript(text, problems)
    count = run(blocks(text, problems), problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"README: {length} lines; its parts and {len(ARTICLES)} articles agree with what is built; {count} commands ran")


if __name__ == "__main__":
    main()
