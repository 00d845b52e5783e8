"""The mapping of profiles to neutral contacts with orjson: map_profiles.py IN OUT."""

import sys

import orjson

NAMES = {"_bdate": "birth_date", "_city": "city", "_country": "country", "_lname": "family_name", "_fname": "given_name"}
KINDS = {"customer_number": "external", "email": "email", "phones": "phone"}
TYPES = {"_bdate": "date", "_country": "country"}
TAKEN = {"_tz", "labels", "subscriptions"}
GENDERS = {1: "male", 2: "female"}


def contact(line):
    data = line["data"]
    identifiers, attributes = [], {}
    for field, kind in KINDS.items():
        value = data.get(field)
        for text in value if value.__class__ is list else [value]:
            if text:
                identifiers.append({"kind": kind, "value": text})
    for field, value in data.items():
        if field in KINDS or field in TAKEN or value is None:
            continue
        if field == "_sex":
            attributes["gender"] = GENDERS.get(value, value)
        elif field in TYPES:
            attributes[NAMES[field]] = {TYPES[field]: value}
        else:
            attributes[NAMES.get(field, field)] = value
    whole = {"identifiers": identifiers, "attributes": dict(sorted(attributes.items()))}
    if data.get("labels"):
        whole["tags"] = sorted(set(data["labels"]))
    whole["subscriptions"] = [
        {"channel": each["channel"], "state": each["status"]} for each in data.get("subscriptions", ())
        if each["resource_id"] == 31
    ]
    if "_tz" in data:
        whole["timeZone"] = data["_tz"]
    return whole


def main():
    with open(sys.argv[1], "rb", buffering=1 << 18) as source, open(sys.argv[2], "wb") as target:
        lines = []
        for text in source:
            lines.append(orjson.dumps(contact(orjson.loads(text))))
            if len(lines) == 512:
                lines.append(b"")
                target.write(b"\n".join(lines))
                lines.clear()
        if lines:
            target.write(b"\n".join(lines) + b"\n")


main()
