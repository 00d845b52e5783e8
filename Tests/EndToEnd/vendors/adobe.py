"""Computes the expected state of an instance of Adobe Campaign Standard after the accepted operations."""

import hashlib
import urllib.parse

TITLE = "Adobe Campaign"
# The kinds of operations of an ordinary morning that it has no API for: it tracks push messages and session starts alone.
REFUSES = ("changeSubscription", "track")
SOURCE = None
TARGET = None
APP = "b7e2f0c4d91a"
ORGANIZATION = "ACME1234@AdobeOrg"
ATTRIBUTES = {
    "given_name": "cusFirstName", "family_name": "cusLastName", "birth_date": "cusBirthDate", "country": "cusCountry",
    "city": "cusCity", "loyalty_tier": "cusTier", "points": "cusPoints", "last_order": "cusLastOrder",
    "last_purchase": "cusLastPurchase", "favourite_shop": "cusShop", "status": "cusStatus",
}
IDENTIFIERS = {"external": "cusCustomerNumber", "email": "cusEmail"}
SHELVES = (
    "poetry nature history cooking travel chess crime flamenco manga science children comics gardening railways".split()
)
TAGS = {
    **{shelf: f"cusLikes{shelf.capitalize()}" for shelf in SHELVES},
    **{f"shelf {number}": f"cusShelf{number}" for number in range(7)},
}


def account():
    return {"apps": [APP], "fields": [*ATTRIBUTES.values(), *IDENTIFIERS.values(), *TAGS.values()],
            "organizations": [ORGANIZATION]}


def provider(url, contacts, environment):
    """No credential: a device has none here."""
    return {
        "adapter": "adobe",
        "settings": {
            "server": "shop.campaign.example", "testAddress": url, "pkey": APP, "organizationId": ORGANIZATION,
            "attributeFields": ATTRIBUTES, "identifierFields": IDENTIFIERS, "tagFields": TAGS,
        },
    }


def identity(installation, generation):
    """The 38 digits of an installation's identity: two numbers of 63 bits, made from its name."""
    digest = hashlib.sha256(f"adobe.ecid:{installation}#{generation}".encode()).digest()
    halves = [int.from_bytes(digest[start:start + 8], "big") & (1 << 63) - 1 for start in (0, 8)]
    return "".join(f"{half:019}" for half in halves)


def text(value):
    """A neutral value as the one line of text that a field takes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(next(iter(value.values()))) if isinstance(value, dict) else str(value)


def fields(action):
    """What an operation writes, by field; names without a field write nothing."""
    if action["kind"] == "changeAttributes":
        changes = [(ATTRIBUTES.get(name), change.get("set", "")) for name, change in action["changes"].items()]
        return {field: text(value) for field, value in changes if field}
    if action["kind"] == "changeTags":
        change = action["tags"]
        gone = [*(TAGS if change.get("replace") is not None else []), *change.get("remove", [])]
        there = [*(change.get("replace") or []), *change.get("add", [])]
        return {**{TAGS[tag]: "false" for tag in gone if tag in TAGS}, **{TAGS[tag]: "true" for tag in there if tag in TAGS}}
    identifiers = action.get("identifiers") or action.get("switch", {}).get("identifiers", [])
    return {IDENTIFIERS[each["kind"]]: each["value"] for each in identifiers if each["kind"] in IDENTIFIERS}


def check(view):
    """Compares the fields of each installation with the last values that were accepted."""
    if view.state is None:
        return 0, "mobile profiles compared with the sent operations", []
    expected, uncertain, people = {}, {}, {}
    for operation in view.operations:
        installation, term = operation["subject"], view.outcomes.get(operation["id"])
        values_sent = fields(operation["action"])
        if operation["id"] in view.elsewhere:
            values_sent = {field: value for field, value in values_sent.items() if value not in ("", "false")}
            person = operation["action"].get("switch", {}).get("identifiers", [])
            if person and people.setdefault(installation, person) != person:
                # Values of one person are never sent for the next.
                expected[installation], people[installation] = {}, person
        if operation["id"] in view.elsewhere or term in ("accepted", "unchanged"):
            expected.setdefault(installation, {}).update(values_sent)
        elif term == "rejected" or operation["id"] in view.waiting:
            # The vendor may hold the values nevertheless.
            uncertain.setdefault(installation, set()).update(values_sent)
    profiles = {profile["ecid"]: profile["fields"] for profile in view.state["profiles"]}
    problems = [f"the instance noted a broken rule: {each}" for each in view.state["violations"]]
    for installation, values in expected.items():
        found = profiles.get(identity(installation, 0), {})
        for name, value in values.items():
            if name not in uncertain.get(installation, ()) and found.get(name) != value:
                problems.append(f"installation {installation}: {name} differs")
    for entry in view.log or []:
        reported = dict(urllib.parse.parse_qsl(entry["query"] or "")).get("id", "") if entry["path"] == "/r/" else ""
        if reported and reported.split(",")[-1] not in ("1", "2", "7"):
            problems.append("a push message is reported with an unknown action")
    return len(expected), "mobile profiles compared with the sent operations", problems


def holds(state):
    reachable = sum(bool(each["token"]) for each in state["tokens"])
    return f"{len(state['profiles'])} mobile profiles, {reachable} reachable by push; {len(state['reports'])} reports"
