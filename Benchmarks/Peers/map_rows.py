"""The mapping of an export's rows to import lines with Python's csv and orjson: map_rows.py IN OUT."""

import csv
import re
import sys

import orjson

is_email = re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+\Z").match
is_phone = re.compile(r"\+?[0-9]{5,15}\Z").match
could_be_phone = re.compile(r"[0-9+() .-]+\Z").match
strip_phone = str.maketrans("", "", " -().")
NAMES = {"First Name": "given_name", "Last Name": "family_name"}
OUT = {"city": "_city", "country": "_country", "family_name": "_lname", "given_name": "_fname"}


def main():
    dumps = orjson.dumps
    read = written = 0
    with open(sys.argv[1], newline="", encoding="utf-8", buffering=1 << 18) as source, open(sys.argv[2], "wb") as target:
        rows = csv.reader(source)
        header = next(rows)
        columns = sorted(
            (NAMES.get(name, name.lower().replace(" ", "_")), place) for place, name in enumerate(header) if place > 2
        )
        columns = [(OUT.get(name, name), place) for name, place in columns]
        width, lines = len(header), []
        for row in rows:
            read += 1
            if len(row) != width:
                continue
            row = [field.strip() for field in row]
            key, email, phone = row[0], row[1], row[2]
            if not key or not email or not is_email(email):
                continue
            data = {"customer_number": key, "email": email}
            if phone and could_be_phone(phone) and 4 <= sum(c.isdigit() for c in phone) <= 15:
                data["phones"] = [phone.translate(strip_phone)]
            for name, place in columns:
                if row[place]:
                    data[name] = row[place]
            lines.append(dumps({"db_id": 7, "matching": "email", "email": email, "data": data}))
            written += 1
            if len(lines) == 512:
                lines.append(b"")
                target.write(b"\n".join(lines))
                lines.clear()
        if lines:
            target.write(b"\n".join(lines) + b"\n")
    print('{"read":%d,"written":%d}' % (read, written), file=sys.stderr)


main()
