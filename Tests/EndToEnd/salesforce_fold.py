"""What a Salesforce account must hold after the operations that it took: computed here from the operations alone."""

import json

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
        self.contact_key = keys[0] if keys else self.contact_key

    def _changeAttributes(self, action):
        for name, change in action["changes"].items():
            if name.lower() in RESERVED:
                continue
            if "set" in change and text(change["set"]) is not None:
                self.attributes[name] = text(change["set"])
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
        self.subscription = action["subscription"]["state"]

    @property
    def is_push_enabled(self):
        return self.allows_push and not self.has_left and self.subscription in (None, "subscribed")

    def differences(self, device):
        """Where the account's device says something else."""
        registration = device.get("registration") or {}
        if isinstance(registration, str):
            registration = json.loads(registration)
        expected = {
            "contact key": self.contact_key,
            "attributes": self.attributes,
            "tags": sorted([*AUTOMATIC_TAGS.get(self.platform, []), *self.tags.values()]),
            "push": self.is_push_enabled,
        }
        found = {
            "contact key": registration.get("subscriberKey"),
            "attributes": {pair["key"]: pair["value"] for pair in registration.get("attributes", [])},
            "tags": sorted(registration.get("tags", [])),
            "push": registration.get("push_Enabled"),
        }
        different = [name for name in expected if expected[name] != found[name]]
        missing = self.events - {event["id"].lower() for event in device.get("events", [])}
        return different + ([f"{len(missing)} accepted events"] if missing else [])


def check(operations, endings, state, farewells):
    """Compares the account with the fold of everything that it took.

    - operations: what was said, in its order
    - endings: how each ended at this provider, by id
    - state: the account as the sandbox shows it
    - farewells: whether the account was left, so that push must be off everywhere

    Returns the number of installations compared, and what differs.
    """
    installations = {}
    for operation in operations:
        if endings.get(operation["id"]) in ("accepted", "unchanged", "superseded"):
            installations.setdefault(operation["subject"], Installation()).apply(operation)
    devices = {device["id"].lower(): device for device in state["devices"]}
    problems = [f"the account noted a broken rule: {each['what']}" for each in state.get("violations", [])]
    for subject, installation in installations.items():
        installation.has_left = installation.has_left or farewells
        device = devices.pop(subject.lower(), None)
        if device is None:
            problems.append(f"installation {subject}: the account has never heard of it")
            continue
        problems += [f"installation {subject}: {name} differ" for name in installation.differences(device)]
    problems += [f"device {name}: nobody said anything of it" for name in devices]
    return len(installations), problems
