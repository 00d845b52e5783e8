"""Accounts at the sandbox's vendors, and configurations that use them."""

import base64
import json
import pathlib

APPLICATION = "7d8a2c10-5b7a-4d53-9a0e-3f4f3c1f0a11"
SALESFORCE_TOKEN = "k3y-of-a-sandbox-account"
PIXEL = "bookshop-app"

# What the environment must hold for the configurations below: secrets never stand in a file.
ENVIRONMENT = {"SALESFORCE_TOKEN": SALESFORCE_TOKEN}


def web_token(member):
    """A JSON Web Token as a back end makes one for its contact; unsigned, because no sandbox checks that."""
    matching = {"db_id": 12, "matching": "custom", "field_name": "member_id", "field_value": member}
    parts = [{"alg": "none", "typ": "JWT"}, {"matching": json.dumps(matching)}]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, "c2FuZGJveA"])


def token_name(contact):
    return "ALTCRAFT_TOKEN_" + "".join(letter if letter.isalnum() else "_" for letter in contact).upper()


def sandbox_settings(minimum_spacing=0):
    """What the vendors' accounts are like.

    The device door's spacing of 60 s is not measured where clocks run faster: a millisecond of the machine would count
    as seconds. The tests under the virtual clock measure it to the millisecond.
    """
    return {
        "salesforce": {
            "applicationId": APPLICATION, "accessToken": SALESFORCE_TOKEN, "minimumSpacing": minimum_spacing,
        },
        "altcraft": {"databases": ["12"], "pixels": [PIXEL]},
    }


def salesforce(url):
    return {
        "adapter": "salesforce",
        "settings": {"endpoint": url, "applicationId": APPLICATION, "accessToken": "${SALESFORCE_TOKEN}"},
    }


def altcraft(url, contacts):
    """The provider, with a credential for each contact; the environment gets the tokens."""
    names = {contact: token_name(contact) for contact in [*contacts, "visitor"]}
    ENVIRONMENT.update({name: web_token(contact) for contact, name in names.items()})
    return {
        "adapter": "altcraft",
        "settings": {"apiUrl": url, "pixel": PIXEL, "clientId": "1", "tagsField": "labels"},
        "credentials": {
            "default": "${%s}" % names["visitor"],
            "contacts": {contact: "${%s}" % names[contact] for contact in contacts},
        },
    }


def write_configuration(path, providers, live, outbox="outbox.sqlite", **more):
    """Writes a configuration in which the providers named `live` have a route."""
    configuration = {
        "outbox": {"path": str(outbox)},
        "providers": providers,
        "routes": [{"provider": name, "mode": "live"} for name in live],
        **more,
    }
    pathlib.Path(path).write_text(json.dumps(configuration, indent=2, ensure_ascii=False))
    return path
