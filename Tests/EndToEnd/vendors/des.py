"""Compares the outcomes of a DES provider with the data that the application at the sandbox has received."""

import collections

TITLE = "DES"
# The kinds of operations of an ordinary morning that it has no API for.
REFUSES = ("changeAttributes", "changeTags")
SOURCE = None
TARGET = None
APPLICATION = "ABCD1-234E6"
FIELD = 2575
AGED = "401 the contact token is too old"
SERVICES = ("clientServiceUrl", "eventServiceUrl", "inboxServiceUrl", "remoteConfigUrl")


def account():
    return {"applicationCodes": [APPLICATION]}


def provider(url, contacts, environment):
    """No secret and no credential: the vendor hands out what signs requests."""
    return {
        "adapter": "des",
        "settings": {"applicationCode": APPLICATION, "contactFieldId": FIELD, **{name: url for name in SERVICES}},
    }


def custom_event(operation):
    """The name of the app's own event that an operation is; None if it is none."""
    event = operation["action"].get("event", {})
    return event.get("name") if event.get("kind") == "custom" else None


def check(view):
    """Checks that every accepted event arrived, that no other event arrived, and that the contact is the last one."""
    what = "events and contacts compared with the application"
    if view.state is None:
        return 0, what, []
    ended = {operation["id"]: view.outcomes.get(operation["id"]) for operation in view.operations}
    said = collections.Counter(filter(None, map(custom_event, view.operations)))
    accepted = collections.Counter(
        custom_event(each) for each in view.operations if ended[each["id"]] == "accepted" and custom_event(each)
    )
    arrived = collections.Counter(each["name"] for each in view.state["events"] if each["type"] == "custom")
    # A repeat after a lost answer arrives twice: the vendor has no key to tell.
    problems = [f"event {name}: {count} accepted, {arrived[name]} arrived" for name, count in accepted.items() if arrived[name] < count]
    problems += [f"event {name}: it arrived, and was not captured" for name in arrived if name not in said]
    contacts = contacts_after(view.operations, ended)
    for client in view.state["clients"]:
        expected = contacts.get(client["id"].lower())
        if expected and not view.has_left and client.get("contact") != expected:
            problems.append(f"installation {client['id']}: another contact than the last one that was accepted")
    # An aged token is renewed: the adapter learns of it from the reply.
    problems += [f"the vendor refused: {each}" for each in view.state["violations"] if each != AGED]
    return sum(accepted.values()) + len(contacts), what, problems


def contacts_after(operations, ended):
    """Who was set last on each installation, as the application writes it."""
    contacts = {}
    for operation in operations:
        switch = operation["action"].get("switch")
        if switch is None or ended[operation["id"]] not in ("accepted", "unchanged"):
            continue
        known = [each["value"] for each in switch.get("identifiers", []) if each["kind"] == "external"]
        contacts[operation["subject"].lower()] = f"{FIELD}={known[0]}" if switch["direction"] == "logIn" and known else "anonymous"
    return contacts


def holds(state):
    contacts = collections.Counter("anonymous" if each.get("contact") == "anonymous" else "known" for each in state["clients"])
    words = ", ".join(f"{count} {kind}" for kind, count in sorted(contacts.items()))
    return f"{len(state['clients'])} installations ({words}); {len(state['events'])} events"
