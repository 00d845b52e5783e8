#!/usr/bin/env python3
"""Writes day.ndjson: one day of a bookshop's app, as neutral operations in chronological order.

The people are invented, and the day is the same on every run. Run it after a change and commit the result:

    python3 Examples/Data/make_day.py
"""

import datetime
import json
import pathlib
import random
import uuid

DAY = datetime.datetime(2031, 3, 9, tzinfo=datetime.timezone.utc)
SPACE = uuid.UUID("6f1c0c52-33b0-4c3e-9a52-0d2a6d6f7a10")

# Member number, given name, family name, city, country, birth date, tier, phone, favourite shelves.
PEOPLE = [
    ("480013", "Aino", "Virtanen", "Helsinki", "FI", "1990-04-01", "silver", "iPhone17,3", ["poetry", "nature"]),
    ("480014", "Mikael", "Lindström", "Åbo", "FI", "1978-11-23", "gold", "iPhone16,1", ["history"]),
    ("480021", "Σοφία", "Παπαδοπούλου", "Θεσσαλονίκη", "GR", "1985-07-14", "bronze", "Pixel 9", ["cooking", "travel"]),
    ("480022", "Николай", "Иванов", "София", "BG", "1969-02-28", "gold", "iPhone15,4", ["chess", "history"]),
    ("480027", "Zoë", "O’Connor-Nuñez", "Galway", "IE", "1999-12-31", "bronze", "iPhone17,1", ["crime"]),
    ("480030", "José María", "de la Cruz", "Sevilla", "ES", "1994-05-09", "silver", "Galaxy S24", ["flamenco", "travel"]),
    ("480031", "美咲", "佐藤", "京都", "JP", "2001-09-17", "silver", "iPhone16,2", ["manga", "poetry"]),
    ("480035", "王", "小明", "臺北", "TW", "1988-01-05", "bronze", "Pixel 8a", ["science"]),
    ("480040", "ليلى", "حداد", "بيروت", "LB", "1992-03-21", "gold", "iPhone14,5", ["poetry", "cooking"]),
    ("480041", "Yael", "Ben-David", "Haifa", "IL", "1983-10-02", "silver", "Galaxy A55", ["children"]),
    ("480044", "Björk", "Guðmundsdóttir", "Reykjavík", "IS", "1996-06-17", "bronze", "iPhone13,2", ["nature", "crime"]),
    ("480048", "Łukasz", "Wójcik", "Łódź", "PL", "1981-08-15", "gold", "iPhone17,4", ["science", "chess"]),
    ("480050", "Chloé", "Lefèvre", "Liège", "BE", "1975-05-30", "silver", "Pixel 9 Pro", ["comics"]),
    ("480052", "İbrahim", "Yıldız", "İzmir", "TR", "1998-04-23", "bronze", "Galaxy S25", ["travel"]),
    ("480053", "Anh", "Nguyễn", "Huế", "VN", "1993-02-10", "silver", "iPhone15,2", ["cooking"]),
    ("480057", "Kwame", "Mensah", "Kumasi", "GH", "1987-03-06", "gold", "Galaxy A35", ["history", "science"]),
    ("480058", "Māra", "Bērziņa", "Rīga", "LV", "1964-11-18", "gold", "iPhone12,8", ["gardening", "poetry"]),
    ("480060", "Jürgen", "Groß", "Köln", "DE", "1959-10-03", "silver", "iPhone16,1", ["railways"]),
    ("480061", "Ana", "Đorđević", "Niš", "RS", "2000-01-01", "bronze", "Pixel 7", ["crime", "comics"]),
    ("480063", "Priya", "रामन", "Chennai", "IN", "1991-08-15", "silver", "iPhone17,3", ["science", "children"]),
    ("480066", "Þór", "Ólafsson", "Akureyri", "IS", "1973-12-01", "bronze", "iPhone13,4", ["railways", "nature"]),
    ("480070", "Mary-Ann", "d'Arcy", "Hobart", "AU", "1966-09-27", "gold", "iPhone15,5", ["gardening"]),
    (None, None, None, None, "FI", None, None, "Pixel 9", ["crime"]),
    (None, None, None, None, "DE", None, None, "iPhone17,1", ["manga"]),
    ("480072", "Олена", "Шевченко", "Львів", "UA", "1995-07-08", "silver", "Galaxy S24", ["poetry", "travel"]),
]

BOOKS = [
    ("The Lighthouse Winter", "9.90"), ("Bread, Salt and Patience", "24.50"), ("Sto lat samotnej wieży", "12.00"),
    ("Η θάλασσα μέσα", "16.80"), ("Railways of the North", "39.00"), ("静かな庭", "8.40"), ("Chess for Owls", "19.99"),
    ("The Cartographer’s “Mistake”", "14.25"), ("Gärten im Regen", "22.00"), ("100 Walks; none of them short", "17.75"),
]


class Day:
    """Collects operations. The id of each depends only on its position in the day."""

    def __init__(self):
        self.operations = []

    def add(self, person, minute, action, app_state="active", group=None, options=None):
        instant = DAY + datetime.timedelta(minutes=minute)
        operation = {
            "id": str(uuid.uuid5(SPACE, f"{person.subject}/{len(person.said)}")),
            "subject": person.subject,
            "contact": None,
            "group": group,
            "capturedAt": instant.strftime("%Y-%m-%dT%H:%M:%S.") + f"{instant.microsecond // 1000:03d}Z",
            "appState": app_state,
            "options": options,
            "action": action,
        }
        person.said.append(operation)
        self.operations.append((minute, person.number, len(person.said), operation))

    def lines(self):
        """Returns the operations in chronological order, each with the contact who was logged in at its time."""
        contacts = {}
        for _, number, _, operation in sorted(self.operations, key=lambda row: row[:3]):
            switch = operation["action"].get("switch")
            if switch:
                contacts[number] = next((each["value"] for each in switch.get("identifiers", [])), None)
            operation["contact"] = contacts.get(number)
            said = {name: value for name, value in operation.items() if value is not None}
            yield json.dumps(said, ensure_ascii=False, separators=(",", ":"))


class Person:
    """One installation and its current user."""

    def __init__(self, number, row, chance):
        self.number, self.chance = number, chance
        self.member, self.given, self.family, self.city, self.country, self.born, self.tier, self.model, self.shelves = row
        self.subject = str(uuid.uuid5(SPACE, f"installation {number}"))
        self.is_android = not self.model.startswith("iPhone")
        self.allows_push = chance.random() < 0.85
        self.said = []

    def device(self, version="5.2.0"):
        token = uuid.uuid5(SPACE, f"token {self.number}").hex + uuid.uuid5(SPACE, f"more {self.number}").hex
        return {
            "kind": "registerDevice",
            "device": {
                "pushToken": {"value": token, "service": "fcm" if self.is_android else "apns"},
                "facts": {
                    "platform": "Android" if self.is_android else "iOS",
                    "platformVersion": "16" if self.is_android else "19.3",
                    "model": self.model,
                    "locale": {"GR": "el_GR", "JP": "ja_JP", "DE": "de_DE", "PL": "pl_PL", "FI": "fi_FI"}.get(self.country, "en_" + self.country),
                    "utcOffsetSeconds": {"FI": 7200, "GR": 7200, "JP": 32400, "TW": 28800, "IE": 0, "AU": 39600}.get(self.country, 3600),
                    "isDaylightSaving": self.country == "AU",
                    "appID": "example.bookshop",
                    "appVersion": version,
                },
                "allowsPush": self.allows_push,
                "allowsBackgroundPush": True,
            },
        }


def custom(name, **attributes):
    event = {"kind": "custom", "name": name}
    if attributes:
        event["attributes"] = attributes
    return {"kind": "track", "event": event}


def attributes(**changes):
    return {"kind": "changeAttributes", "changes": changes}


def decimal(text):
    return {"decimal": text}


def set_to(value):
    return {"set": value}


def first_start(day, person, minute):
    """A person opens the app for the first time today: the device, some screens, then the log-in."""
    day.add(person, minute, person.device())
    day.add(person, minute + 0.2, custom("Screen Viewed", screen="home"))
    if person.member is None:
        return
    identifiers = [{"kind": "external", "value": f"member-{person.member}"}]
    day.add(person, minute + 1.5, {"kind": "switchContact", "switch": {"direction": "logIn", "identifiers": identifiers}})
    day.add(person, minute + 1.6, attributes(
        given_name=set_to(person.given), family_name=set_to(person.family), city=set_to(person.city),
        country=set_to({"country": person.country}), birth_date=set_to({"date": person.born}),
        loyalty_tier=set_to(person.tier), points=set_to(person.chance.randrange(0, 2000)),
    ), group=f"log-in {person.number}")
    day.add(person, minute + 1.7, {"kind": "changeTags", "tags": {"add": person.shelves}}, group=f"log-in {person.number}")
    if person.allows_push:
        subscription = {"channel": "push", "state": "subscribed", "source": "welcome screen"}
        day.add(person, minute + 2.5, {"kind": "changeSubscription", "subscription": subscription})


def visit(day, person, minute, visit_number):
    """A person looks at books, and sometimes buys one."""
    day.add(person, minute, custom("Screen Viewed", screen=person.chance.choice(["home", "search", "shelf", "basket"])))
    for step in range(person.chance.randrange(1, 4)):
        title, price = person.chance.choice(BOOKS)
        day.add(person, minute + 0.7 + step, custom("Product Viewed", title=title, price=decimal(price)))
    title, price = person.chance.choice(BOOKS)
    if person.member and person.chance.random() < 0.35:
        order = f"BK-{person.number:02d}{visit_number}"
        day.add(person, minute + 5, custom("Order Placed", order=order, total=decimal(price), items=1, title=title))
        day.add(person, minute + 5.1, attributes(
            last_order=set_to(order), points=set_to(person.chance.randrange(2000, 4000)),
            last_purchase=set_to({"date": DAY.strftime("%Y-%m-%d")}),
        ), group=f"order {order}")


def evening(day, person, minute):
    """Changes that people make at the end of the day."""
    wish = person.chance.randrange(6)
    if wish == 0:
        day.add(person, minute, {"kind": "changeTags", "tags": {"add": ["book club"], "remove": person.shelves[:1]}})
    elif wish == 1:
        day.add(person, minute, {"kind": "changeSubscription", "subscription": {"channel": "push", "state": "unsubscribed", "source": "settings"}})
    elif wish == 2:
        day.add(person, minute, attributes(loyalty_tier=set_to("platinum"), favourite_shop=set_to(person.city or "online")))
    elif wish == 3 and person.allows_push:
        day.add(person, minute, {"kind": "changeSubscription", "subscription": {"channel": "push", "topic": "new arrivals", "state": "subscribed"}})
    elif wish == 4:
        day.add(person, minute, attributes(favourite_shop={"unset": True}))
    else:
        person.allows_push = True
        day.add(person, minute, person.device(version="5.2.1"))


def oddities(day, people):
    """Unusual operations of real apps. Vendors refuse some of them, and the outcome must state the reason."""
    aino, mikael, zoe, arabic = people[0], people[1], people[4], people[8]
    day.add(aino, 610, attributes(status=set_to("reader"), city=set_to("Espoo")))
    day.add(mikael, 640, {"kind": "changeTags", "tags": {"add": ["ALL"]}})
    day.add(zoe, 655, custom("Mood: 😀", mood="happy"))
    day.add(arabic, 700, attributes(reading_list=set_to(["النبي", "كليلة ودمنة"])))
    day.add(zoe, 715, {"kind": "track", "event": {"kind": "sessionEnded"}}, app_state="background")
    day.add(mikael, 720, attributes(last_app_use=set_to({"timestamp": "2031-03-09T12:00:00Z"})), app_state="background")
    day.add(aino, 730, {"kind": "changeSubscription", "subscription": {"channel": "email", "topic": "letters", "state": "subscribed"}})
    # Two people share a phone: one logs out, the other logs in.
    jurgen, ana = people[17], people[18]
    day.add(jurgen, 800, {"kind": "switchContact", "switch": {"direction": "logOut"}})
    identifiers = [{"kind": "external", "value": "member-480099"}]
    day.add(jurgen, 803, {"kind": "switchContact", "switch": {"direction": "logIn", "identifiers": identifiers}})
    day.add(jurgen, 803.2, attributes(given_name=set_to("Ursula"), points=set_to(7)))
    day.add(ana, 812, attributes(points={"increment": 50}))


def main():
    day = Day()
    people = [Person(number, row, random.Random(f"bookshop {number}")) for number, row in enumerate(PEOPLE)]
    for person in people:
        begin = 362 + person.number * 7 + person.chance.random() * 4
        first_start(day, person, begin)
        visits = person.chance.randrange(2, 5)
        for number in range(visits):
            visit(day, person, begin + 12 + (1150 - begin) * (number + person.chance.random()) / visits, number)
    oddities(day, people)
    for person in people:
        evening(day, person, 1080 + person.chance.random() * 150)
    lines = list(day.lines())
    target = pathlib.Path(__file__).with_name("day.ndjson")
    target.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    print(f"{target.name}: {len(lines)} operations of {len(people)} installations")


if __name__ == "__main__":
    main()
