"""Computes the expected state of a Salesforce account after the accepted operations, from the operations alone."""

import json

TITLE = "Salesforce"
# The kinds of operations of an ordinary morning that it has no API for.
REFUSES = ()
SOURCE = ("salesforce.contacts", {"types": {"birth_date": "date", "points": "integer", "country": "country"}})
TARGET = None
APPLICATION = "7d8a2c10-5b7a-4d53-9a0e-3f4f3c1f0a11"
TOKEN = "k3y-of-a-sandbox-account"


def account(minimum_spacing=0):
    """The device API's spacing of 60 s is not measured where clocks run faster: a millisecond of the machine would
    count as seconds. The tests under the virtual clock measure it to the millisecond.
    """
    return {"applicationId": APPLICATION, "accessToken": TOKEN, "minimumSpacing": minimum_spacing}


def provider(url, contacts, environment):
    environment["SALESFORCE_TOKEN"] = TOKEN
    return {
        "adapter": "salesforce",
        "settings": {"endpoint": url, "applicationId": APPLICATION, "accessToken": "${SALESFORCE_TOKEN}"},
    }

AUTOMATIC_TAGS = {"iOS": ["ALL", "IOS"], "Android": ["ALL", "Android"]}

# The names that the vendor keeps for itself, in lower case.
RESERVED = set(
    "addressid alias apid backgroundrefreshenabled badge channel contactid contactkey createdby createddate"
    " customobjectkey device deviceid devicetype gcmsenderid hardwareid ishonordst lastappopen lastmessageopen lastsend"
    " locationenabled messageopencount modifiedby modifieddate optindate optinmethodid optinstatusid optoutdate"
    " optoutmethodid optoutstatusid platform platformversion providertoken proximityenabled pushaddressextensionid"
    " pushapplicationid sdkversion sendcount source sourceobjectid status systemtoken timezone utcoffset"
    " signedstring quietpushenabled hwid".split()
)


def text(value):
    """A neutral value as the one line of text that the vendor stores; None if it has no such form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        (kind, inner), = value.items()
        if kind in ("object", "list"):
            return None
        return ";".join(inner) if kind == "choices" else str(inner)
    return None if isinstance(value, list) else str(value).strip()


class Installation:
    """One installation as its last registration must describe it."""

    def __init__(self):
        self.contact_key = None
        self.attributes = {}
        self.tags = {}
        self.platform = None
        self.allows_push = False
        self.subscription = None
        self.has_left = False
        self.events = set()
        self.is_replaying = False

    def replay(self, operation):
        """Applies an operation from before this provider was added: the vendor receives the resulting state of the current person only."""
        action = operation["action"]
        if action["kind"] == "track":
            return
        self.is_replaying = True
        getattr(self, "_" + action["kind"], lambda _: None)(action)
        self.is_replaying = False

    def apply(self, operation):
        action = operation["action"]
        getattr(self, "_" + action["kind"], lambda _: None)(action)
        if action["kind"] == "track":
            self.events.add(operation["id"].lower())

    def _registerDevice(self, action):
        device = action["device"]
        self.platform = device.get("facts", {}).get("platform", self.platform)
        self.allows_push = device.get("allowsPush", True)
        self.has_left = False

    def _identify(self, action):
        self._take_key(action["identifiers"])

    def _switchContact(self, action):
        self._take_key(action["switch"].get("identifiers", []))

    def _take_key(self, identifiers):
        keys = [each["value"].strip() for each in identifiers if each["kind"] == "external"]
        if keys and self.contact_key not in (None, keys[0]):
            if self.is_replaying:
                self.attributes, self.tags, self.subscription = {}, {}, None
            else:
                # The adapter empties the attributes of the person before and removes their tags.
                self.attributes, self.tags = dict.fromkeys(self.attributes, ""), {}
        self.contact_key = keys[0] if keys else self.contact_key

    def _changeAttributes(self, action):
        for name, change in action["changes"].items():
            if name.lower() in RESERVED:
                continue
            if "set" in change and text(change["set"]) is not None:
                self.attributes[name] = text(change["set"])
            elif "unset" in change and self.is_replaying:
                self.attributes.pop(name, None)
            elif "unset" in change:
                self.attributes[name] = ""

    def _changeTags(self, action):
        change = action["tags"]
        if change.get("replace") is not None:
            self.tags = {}
        for tag in change.get("remove", []):
            self.tags.pop(tag.strip().lower(), None)
        for tag in [*(change.get("replace") or []), *change.get("add", [])]:
            if tag.strip().lower() not in ("all", "ios", "android", "debug"):
                self.tags[tag.strip().lower()] = tag.strip()

    def _changeSubscription(self, action):
        subscription = action["subscription"]
        if subscription["channel"] != "push":
            return
        topic = (subscription.get("topic") or "").strip()
        if not topic:
            self.subscription = subscription["state"]
        elif subscription["state"] == "subscribed":
            # The registration has no topics: each is a tag of its name.
            self.tags[topic.lower()] = topic
        else:
            self.tags.pop(topic.lower(), None)

    @property
    def is_push_enabled(self):
        return self.allows_push and not self.has_left and self.subscription in (None, "subscribed")

    def differences(self, device):
        """Returns the differences from the account's device."""
        registered = registration(device)
        expected = {
            "contact key": self.contact_key,
            "attributes": self.attributes,
            "tags": sorted([*AUTOMATIC_TAGS.get(self.platform, []), *self.tags.values()]),
            "push": self.is_push_enabled,
        }
        found = {
            "contact key": registered.get("subscriberKey"),
            "attributes": {pair["key"]: pair["value"] for pair in registered.get("attributes", [])},
            "tags": sorted(registered.get("tags", [])),
            "push": registered.get("push_Enabled"),
        }
        different = [name for name in expected if expected[name] != found[name]]
        missing = self.events - {event["id"].lower() for event in device.get("events", [])}
        return different + ([f"{len(missing)} accepted events"] if missing else [])


def registration(device):
    """A device's last registration."""
    text = device.get("registration") or {}
    return json.loads(text) if isinstance(text, str) else text


def check(view):
    """Compares the account with the fold of everything that it took."""
    if view.state is None:
        return 0, "installations compared with the sent operations", []
    installations = {}
    for operation in view.operations:
        is_replayed = operation["id"] in view.elsewhere
        if is_replayed or view.outcomes.get(operation["id"]) in ("accepted", "unchanged", "superseded"):
            installation = installations.setdefault(operation["subject"], Installation())
            (installation.replay if is_replayed else installation.apply)(operation)
    devices = {device["id"].lower(): device for device in view.state["devices"]}
    problems = [f"the account noted a broken rule: {each['what']}" for each in view.state.get("violations", [])]
    for subject, installation in installations.items():
        installation.has_left = installation.has_left or view.has_left
        device = devices.pop(subject.lower(), None)
        if device is None:
            problems.append(f"installation {subject}: the account does not know it")
            continue
        problems += [f"installation {subject}: {name} differ" for name in installation.differences(device)]
    problems += [f"device {name}: no operation concerns it" for name in devices]
    return len(installations), "installations compared with the sent operations", problems


def holds(state):
    reachable = sum(bool(registration(device).get("push_Enabled")) for device in state["devices"])
    events = sum(len(device.get("events", [])) for device in state["devices"])
    return f"{len(state['devices'])} devices, {reachable} of them reachable by push; {events} events"
