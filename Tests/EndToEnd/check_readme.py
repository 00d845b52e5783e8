#!/usr/bin/env python3
"""Holds the README against what is built: its example, its table of vendors and its table of commands.

    check_readme.py            ends with 1 if something differs
    check_readme.py --write    puts the true text in its place
"""

import json
import re
import sys

import processes

README = processes.ROOT / "README.md"
EXAMPLE = processes.ROOT / "Examples/SwitchProvider/Sources/SwitchProvider/main.swift"
SIGNS = {"native": "yes", "emulated": "emulated", "unsupported": "–"}


def example():
    """The part of the example's source that stands between the marks."""
    source = EXAMPLE.read_text(encoding="utf-8")
    part = re.search(r"// README begin\n(.*?)// README end\n", source, re.DOTALL)
    return "```swift\n" + part.group(1) + "```\n"


def vendors():
    """Provider × capability: what each vendor takes by itself, what is emulated, what it can't. Types of attributes are
    left to the command: they would fill the page."""
    doors = json.loads(processes.run("adapters", "--json").stdout)
    every = set().union(*(door["capabilities"] for door in doors))
    names = sorted(name for name in every if not name.startswith("attribute."))
    head = [f"| | {' | '.join(door['title'] for door in doors)} |", "|---|" + "---|" * len(doors)]
    rows = [
        f"| `{name}` | {' | '.join(SIGNS[door['capabilities'].get(name, {}).get('support', 'unsupported')] for door in doors)} |"
        for name in names
    ]
    return "\n".join(head + rows) + "\n"


def commands():
    """The reference's first table: one line per command."""
    return processes.run("help", "--markdown").stdout.decode().split("\n\n")[0].strip() + "\n"


def main():
    made = {"example": example(), "vendors": vendors(), "commands": commands()}
    text = README.read_text(encoding="utf-8")
    stale = []
    for name, part in made.items():
        pattern = re.compile(rf"(<!-- {name}: .*?-->\n)(.*?)(<!-- end -->)", re.DOTALL)
        place = pattern.search(text)
        if place is None:
            sys.exit(f"README.md has no place for the {name}: <!-- {name}: … --> and <!-- end -->.")
        if place.group(2) != part:
            stale.append(name)
            text = text[:place.start(2)] + part + text[place.end(2):]
    if "--write" in sys.argv[1:]:
        README.write_text(text, encoding="utf-8")
        print(f"README: {', '.join(stale) or 'nothing'} written anew")
    elif stale:
        sys.exit(f"README: {', '.join(stale)} differ from what is built. Run Tests/EndToEnd/check_readme.py --write.")
    else:
        print(f"README: {len(made)} parts agree with what is built")


if __name__ == "__main__":
    main()
