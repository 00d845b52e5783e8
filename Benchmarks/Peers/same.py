"""Whether two files of JSON lines say the same: same.py OURS THEIRS.

Members that are null, empty lists and the order of members do not count; numbers count by their value.
"""

import json
import sys


def plain(value):
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if inner is not None and inner != []}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


with open(sys.argv[1], "rb") as ours, open(sys.argv[2], "rb") as theirs:
    for number, left in enumerate(ours, 1):
        right = theirs.readline()
        if not right or plain(json.loads(left)) != plain(json.loads(right)):
            sys.exit(f"line {number} differs:\n{left}{right}")
    if theirs.readline():
        sys.exit("there are more lines in the second file")
