"""The mapping of contacts to import lines in Python: map_python.py orjson|msgspec IN OUT.

Written as a person would who knows the library well: one pass, local names, one write for many lines.
"""

import re
import sys
from datetime import date

COUNTRIES = set(
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC "
    "CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD "
    "GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH "
    "KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW "
    "MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC "
    "SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY "
    "UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW".split()
)
FIELDS = {
    "birth_date": "_bdate", "city": "_city", "country": "_country", "family_name": "_lname", "given_name": "_fname",
}
CODES = {"male": 1, "female": 2}
is_email = re.compile(r"[^@\s]+@[^@\s]+\Z").match
is_phone = re.compile(r"\+?[0-9]{5,15}\Z").match
strip_phone = str.maketrans("", "", " -().")
known = {"identifiers", "attributes", "tags", "subscriptions", "locale", "timeZone"}


class Counts:
    read = written = rejected = no_home = address = unreachable = 0


def mapped(identifiers, attributes, tags, subscriptions, has_locale, zone):
    """The import line of one contact as an object; None if it can't be found by an e-mail address."""
    data = {}
    email = phone = None
    for kind, value in identifiers:
        if kind == "external":
            data["customer_number"] = value
        elif kind == "email":
            if not is_email(value):
                return None
            email = data["email"] = value
        elif kind == "phone":
            compact = value.translate(strip_phone)
            if is_phone(compact):
                phone = compact
                data["phones"] = [compact]
            else:
                Counts.address += 1
    if email is None:
        return None
    for name, value in attributes:
        if value.__class__ is dict:
            ((form, value),) = value.items()
            if form == "date":
                date.fromisoformat(value)
            elif form != "country" or value not in COUNTRIES:
                raise ValueError(form)
        if name == "gender":
            data["_sex"] = CODES[value]
        else:
            data[FIELDS.get(name, name)] = value
    if zone is not None:
        data["_tz"] = zone
    if has_locale:
        Counts.no_home += 1
    if tags:
        data["labels"] = sorted(set(tags))
    rows = []
    for channel, state in subscriptions:
        if channel == "email":
            rows.append({"channel": "email", "resource_id": 31, "email": email, "status": state})
        elif channel == "sms" and phone:
            rows.append({"channel": "sms", "resource_id": 31, "phone": phone, "status": state})
        else:
            Counts.unreachable += 1
    if rows:
        data["subscriptions"] = rows
    return {"db_id": 7, "matching": "email", "email": email, "data": data}


def with_orjson():
    import orjson

    # Floats would lose the last zero of an amount: the number's text is kept by a fragment.
    amount = re.compile(rb'"total":([0-9.]+)')
    loads, dumps, Fragment = orjson.loads, orjson.dumps, orjson.Fragment

    def line(text):
        contact = loads(text)
        if not known.issuperset(contact):
            raise ValueError("an unknown member")
        attributes = contact.get("attributes", {})
        if "total" in attributes:
            attributes["total"] = Fragment(amount.search(text).group(1))
        result = mapped(
            [(one["kind"], one["value"]) for one in contact.get("identifiers", ())],
            sorted(attributes.items()),
            contact.get("tags"),
            [(one["channel"], one["state"]) for one in contact.get("subscriptions", ())],
            "locale" in contact,
            contact.get("timeZone"),
        )
        return None if result is None else dumps(result)

    return line


def with_msgspec():
    import msgspec

    class Identifier(msgspec.Struct, forbid_unknown_fields=True):
        kind: str
        value: str

    class Subscription(msgspec.Struct, forbid_unknown_fields=True):
        channel: str
        state: str

    class Contact(msgspec.Struct, forbid_unknown_fields=True):
        identifiers: list[Identifier] = []
        attributes: dict[str, msgspec.Raw] = {}
        tags: list[str] = []
        subscriptions: list[Subscription] = []
        locale: str | None = None
        timeZone: str | None = None

    class Number(msgspec.Struct):
        pass

    decode = msgspec.json.Decoder(Contact).decode
    value = msgspec.json.Decoder().decode
    encode = msgspec.json.Encoder().encode

    def line(text):
        contact = decode(text)
        attributes = [
            (name, raw if name == "total" else value(raw)) for name, raw in sorted(contact.attributes.items())
        ]
        result = mapped(
            [(one.kind, one.value) for one in contact.identifiers],
            attributes,
            contact.tags,
            [(one.channel, one.state) for one in contact.subscriptions],
            contact.locale is not None,
            contact.timeZone,
        )
        return None if result is None else encode(result)

    return line


def main():
    line = {"orjson": with_orjson, "msgspec": with_msgspec}[sys.argv[1]]()
    with open(sys.argv[2], "rb", buffering=1 << 18) as source, open(sys.argv[3], "wb") as target:
        lines = []
        for text in source:
            if text == b"\n":
                continue
            Counts.read += 1
            try:
                result = line(text)
            except (ValueError, KeyError, TypeError):
                result = None
            if result is None:
                Counts.rejected += 1
                continue
            Counts.written += 1
            lines.append(result)
            if len(lines) == 512:
                lines.append(b"")
                target.write(b"\n".join(lines))
                lines.clear()
        if lines:
            lines.append(b"")
            target.write(b"\n".join(lines))
    print(
        '{"read":%d,"written":%d,"rejected":%d,"noPlace":%d,"address":%d,"unreachable":%d}'
        % (Counts.read, Counts.written, Counts.rejected, Counts.no_home, Counts.address, Counts.unreachable),
        file=sys.stderr,
    )


main()
