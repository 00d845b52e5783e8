"""Compares the outcomes of an Altcraft provider with the requests that the sandbox received."""

import base64
import collections
import json
import uuid

TITLE = "Altcraft"
# The kinds of operations of an ordinary morning that it has no API for.
REFUSES = ()
SOURCE = None
TARGET = ("altcraft.profiles", {
    "dbId": 12, "resourceId": 7, "matching": "custom", "matchingIdentifier": "external",
    "identifierFields": {"external": "member_id", "email": "email", "phone": "phones"},
})
PIXEL = "bookshop-app"

# What needs no request: the adapter remembers the device, the credential names the person, the engine keeps consent.
SILENT_KINDS = {"registerDevice", "identify", "setConsent", "erase"}

# The requests of one operation: the first has the operation's own id, the others one made from it and their name.
PARTS = ["subscribe", "addTags"]


def account():
    return {"databases": ["12"], "pixels": [PIXEL]}


def web_token(member):
    """A JSON Web Token as a back end makes one for its contact; unsigned, because no sandbox checks that."""
    matching = {"db_id": 12, "matching": "custom", "field_name": "member_id", "field_value": member}
    parts = [{"alg": "none", "typ": "JWT"}, {"matching": json.dumps(matching)}]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, "c2FuZGJveA"])


def provider(url, contacts, environment):
    """Returns a provider with a credential for each contact, and one for anonymous people."""
    names = {
        contact: "ALTCRAFT_TOKEN_" + "".join(letter if letter.isalnum() else "_" for letter in contact).upper()
        for contact in [*contacts, "visitor"]
    }
    environment.update({name: web_token(contact) for contact, name in names.items()})
    return {
        "adapter": "altcraft",
        "settings": {"apiUrl": url, "pixel": PIXEL, "clientId": "1", "tagsField": "labels"},
        "credentials": {
            "default": "${%s}" % names["visitor"],
            "contacts": {contact: "${%s}" % names[contact] for contact in contacts},
        },
    }


def made_id(name):
    """The UUID made from a name: FNV-1a over 128 bits, with version 8 and the variant of RFC 9562."""
    value = 0x6C62272E07BB014262B821756295C58D
    for byte in name.encode("utf-8"):
        value = ((value ^ byte) * ((1 << 88) | 0x13B)) % (1 << 128)
    value = value & ~(0xF << 76) | 0x8 << 76
    return str(uuid.UUID(int=value & ~(0x3 << 62) | 0x2 << 62))


def request_ids(identifier):
    """The ids under which an operation changes something, and the one under which it asks for the present state."""
    try:
        own = str(uuid.UUID(identifier))
    except ValueError:
        own = made_id(identifier)
    return [own, *(made_id(f"{identifier}/{part}") for part in PARTS)], made_id(f"{identifier}/status")


def sent_id(entry):
    """The id that a request carried."""
    headers = {name.lower(): value for name, value in entry["headers"].items()}
    return headers.get("request-id", "").lower()


def was_taken(entry):
    return entry["processed"] and entry["status"] is not None and 200 <= entry["status"] < 300


def check(view):
    """Checks both directions: the vendor received the accepted operations, and the received operations count as accepted."""
    if view.log is None:
        return 0, "accepted operations found among the requests", []
    kinds = {operation["id"]: operation["action"]["kind"] for operation in view.operations}
    requests = collections.defaultdict(list)
    for entry in view.log:
        requests[sent_id(entry)].append(was_taken(entry))
    found, problems, unexplained = 0, [], 0
    for identifier, term in view.outcomes.items():
        sent = [requests[each] for each in request_ids(identifier)[0] if each in requests]
        taken = bool(sent) and all(any(answers) for answers in sent)
        if term == "accepted" and taken:
            found += 1
        elif term == "accepted" and identifier not in kinds and not sent:
            unexplained += 1
        elif term == "accepted" and (sent or kinds[identifier] not in SILENT_KINDS):
            problems.append(f"operation {identifier}: accepted, but the vendor never took it")
        elif term == "superseded" and kinds.get(identifier) in ("switchContact", "changeSubscription"):
            # A later decision replaces one whose request may have arrived without an answer.
            continue
        elif term in ("dropped", "moved", "superseded") and taken:
            problems.append(f"operation {identifier}: {term}, but the vendor took it")
    # Operations that need no request the engine itself may have made at a switch.
    replayed = sum(("device" in snapshot) + ("identifiers" in snapshot) for snapshot in view.snapshots)
    if unexplained > replayed:
        problems.append(f"{unexplained} operations of a switch are accepted without a request, {replayed} may be")
    known = set()
    for identifier in [*view.outcomes, *view.waiting]:
        changes, question = request_ids(identifier)
        known.update(changes, [question])
    unknowns = [identifier for identifier in requests if identifier and identifier not in known]
    problems += [f"request {identifier}: no operation of the outbox made it" for identifier in unknowns]
    return found, f"accepted operations found among {len(view.log)} requests", problems


def holds(state):
    subscriptions = collections.Counter(
        subscription["status"] for profile in state["profiles"] for subscription in profile["subscriptions"]
    )
    words = ", ".join(f"{count} {status}" for status, count in sorted(subscriptions.items()))
    return f"{len(state['profiles'])} profiles; push subscriptions: {words}; {len(state['customEvents'])} events"
