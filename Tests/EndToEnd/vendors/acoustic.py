"""Computes the expected state of an Acoustic account after the accepted operations: each user's row, and the events."""

import collections
import json

TITLE = "Acoustic Campaign"
# The kinds of operations of an ordinary morning that it has no API for.
REFUSES = ()
SOURCE = None
TARGET = None
APP = "gcb4hVDsXq"
TAGS = "Labels"


def account():
    # Clocks run fast here: a minute of the vendor is less than a second of the machine.
    return {"appKey": APP, "updatesPerMinute": 100_000}


def provider(url, contacts, environment):
    """The vendor is asked for the ids of user and channel; columns are not described, so values go by their own type."""
    environment["ACOUSTIC_APP_KEY"] = APP
    return {
        "adapter": "acoustic",
        "settings": {
            "baseUrl": url, "appKey": "${ACOUSTIC_APP_KEY}", "registration": "requested", "tagsColumn": TAGS,
        },
    }


def text(value):
    """A neutral value as the column shows it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        (kind, inner), = value.items()
        if kind == "timestamp" and "." not in inner:
            return inner.replace("Z", ".000Z")
        return inner.lower() if kind == "country" else str(inner)
    return str(value)


class Row:
    """One user's row, and the number of times that each event was sent."""

    def __init__(self):
        self.columns, self.tags, self.contact = {}, [], None
        self.events = collections.Counter()

    def apply(self, operation, is_replayed):
        action = operation["action"]
        kind = action["kind"]
        if kind == "changeAttributes":
            for name, change in action["changes"].items():
                # A column holds no list: of a replayed state it alone is refused.
                if isinstance(change.get("set"), list):
                    continue
                self.columns[name] = text(change["set"]) if "set" in change else None
        elif kind == "changeTags":
            change = action["tags"]
            if change.get("replace") is not None:
                self.tags = []
            self.tags = [tag for tag in self.tags if tag not in change.get("remove", [])]
            self.tags += [tag for tag in [*(change.get("replace") or []), *change.get("add", [])] if tag not in self.tags]
        elif kind == "switchContact" and is_replayed:
            known = [each["value"] for each in action["switch"].get("identifiers", [])]
            if known and self.contact not in (None, known[0]):
                self.columns, self.tags = {}, []
            self.contact = known[0] if known else self.contact
        elif kind == "track" and not is_replayed and action["event"]["kind"] == "custom":
            self.events[action["event"]["name"]] += 1

    def differences(self, user):
        written = {}
        for write in user["writes"]:
            written[write["column"]] = text(json.loads(write["value"])) if "value" in write else None
        found = sorted((written.pop(TAGS, None) or "").split(";"))
        if found != (sorted(self.tags) or [""]):
            yield "tags"
        for name in {*self.columns, *written}:
            if self.columns.get(name) != written.get(name):
                yield name
        arrived = collections.Counter(event["name"] for event in user["events"])
        for name, count in self.events.items():
            # A repeat after a lost answer arrives twice: the vendor has no key to tell.
            if arrived[name] < count:
                yield f"event {name}"


def check(view):
    """Compares each user's row with the fold of everything that was accepted."""
    what = "users compared with the sent operations"
    if view.state is None:
        return 0, what, []
    rows = {}
    for operation in view.operations:
        is_replayed = operation["id"] in view.elsewhere
        if is_replayed or view.outcomes.get(operation["id"]) in ("accepted", "unchanged", "superseded"):
            rows.setdefault(operation["subject"].lower(), Row()).apply(operation, is_replayed)
    users = {user["installID"].lower(): user for user in view.state["users"]}
    problems = [f"the account noted a broken rule: {each['what']}" for each in view.state["violations"]]
    for subject, row in rows.items():
        if subject not in users:
            problems.append(f"installation {subject}: the account does not know it")
            continue
        problems += [f"installation {subject}: {name} differs" for name in row.differences(users[subject])]
    return len(rows), what, problems


def holds(state):
    values = sum(len({write["column"] for write in user["writes"]}) for user in state["users"])
    events = sum(len(user["events"]) for user in state["users"])
    return f"{len(state['users'])} users with {values} values; {events} events"
