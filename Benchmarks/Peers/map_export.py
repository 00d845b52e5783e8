"""The mapping of Adobe Campaign's profiles to Emarsys contacts with Python's csv: map_export.py IN OUT."""

import csv
import re
import sys

is_email = re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+\Z").match
OPT_IN = {"true": "False", "1": "False", "false": "True", "0": "True", "": ""}
HEADER = ["E-Mail", "externalId", "Mobile", "First Name", "Last Name", "Date of Birth", "City", "ZIP Code", "Opt-In"]


def main():
    read = written = 0
    with (
        open(sys.argv[1], newline="", encoding="utf-8", buffering=1 << 18) as source,
        open(sys.argv[2], "w", newline="", encoding="utf-8", buffering=1 << 18) as target,
    ):
        rows = csv.reader(source, delimiter=";", quoting=csv.QUOTE_NONE)
        place = {name: number for number, name in enumerate(next(rows))}
        wanted = [place[n] for n in ("email", "externalId", "mobilePhone", "firstName", "lastName", "birthDate", "blackListEmail")]
        email_place, key_place, phone_place, first_place, last_place, birth_place, no_place = wanted
        out = csv.writer(target, lineterminator="\n")
        out.writerow(HEADER)
        for row in rows:
            read += 1
            if len(row) != len(place):
                continue
            row = [field.strip() for field in row]
            email = row[email_place]
            if not is_email(email):
                continue
            day = row[birth_place].replace("/", "-")
            out.writerow(
                [
                    email, row[key_place], row[phone_place], row[first_place], row[last_place], day, "", "",
                    OPT_IN[row[no_place].lower()],
                ]
            )
            written += 1
    print(read, written)


main()
