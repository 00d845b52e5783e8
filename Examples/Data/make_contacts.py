#!/usr/bin/env python3
"""Writes salesforce-contacts.csv: a contact export like that of a real account, with typical errors.

The people are invented, and the file is the same on every run. Run it after a change and commit the result:

    python3 Examples/Data/make_contacts.py
"""

import csv
import datetime
import io
import pathlib
import random

ROWS = 2400

HEADER = [
    "Contact Key", "Email Address", "Mobile Number", "First Name", "Last Name", "_City", "_ZipCode", "Country", "Locale",
    "Birth Date", "Loyalty Tier", "Points", "Notes", "_DeviceID", "_SystemToken", "_Platform", "_PlatformVersion",
    "_HardwareId", "_UTCOffset", "_OptInDate", "_OptOutDate", "_Status",
]

# Locale, country, offset, given names, family names, places with postal codes, a dialling code.
WORLD = [
    ("en_IE", "IE", 0, "Aoife Ciarán Niamh Seán Róisín Tadhg Órla Declan", "O’Brien|Murphy|Ní Bhriain|Byrne|d'Arcy|Walsh", "Galway:H91|Cork:T12|Dublin 4:D04", "353"),
    ("fi_FI", "FI", 2, "Aino Väinö Mikael Satu Eero Päivi Kalle Sanni", "Virtanen|Korhonen|Mäkinen|Lindström|Hämäläinen|Åkerblom", "Helsinki:00100|Åbo:20100|Jyväskylä:40100", "358"),
    ("de_DE", "DE", 1, "Jürgen Zoë Björn Käthe Günther Mia-Sophie Lukas Anneliese", "Groß|Müller|Schröder|von der Heide|Weiß|Koç", "Köln:50667|München:80331|Görlitz:02826", "49"),
    ("fr_FR", "FR", 1, "Chloé Anaïs Jean-François Éléonore Loïc Maëlle Hugo Inès", "Lefèvre|Dubois|de La Tour|N’Guessan|Garçon|Béranger", "Besançon:25000|Nîmes:30000|Paris:75011", "33"),
    ("pl_PL", "PL", 1, "Łukasz Agnieszka Małgorzata Stanisław Żaneta Paweł Zofia Kuba", "Wójcik|Kowalski|Nowak-Sękowska|Źrebiec|Dąbrowska|Wiśniewski", "Łódź:90-001|Kraków:30-002|Gdańsk:80-003", "48"),
    ("es_ES", "ES", 1, "José Lucía Íñigo Begoña Martín Nuria Ángel Sofía", "García|de la Cruz|Núñez|Ibáñez Ruiz|Peña|Muñoz", "Sevilla:41001|A Coruña:15001|Logroño:26001", "34"),
    ("bg_BG", "BG", 2, "Николай Елена Димитър Йорданка Стоян Цветелина Иван Мария", "Иванов|Петрова|Георгиев|Димитрова|Стоянов|Щерева", "София:1000|Пловдив:4000|Варна:9000", "359"),
    ("uk_UA", "UA", 2, "Олена Тарас Їжакевич Соломія Євген Ганна Андрій Зоряна", "Шевченко|Коваленко|Ґалаґан|Бойко|Кравчук|Мельник", "Львів:79000|Київ:01001|Одеса:65000", "380"),
    ("el_GR", "GR", 2, "Σοφία Γιώργος Ελένη Δημήτρης Κατερίνα Νίκος Μαρία Θανάσης", "Παπαδοπούλου|Νικολάου|Αντωνίου|Καραμανλής|Οικονόμου|Γεωργίου", "Θεσσαλονίκη:54624|Αθήνα:10431|Πάτρα:26221", "30"),
    ("ja_JP", "JP", 9, "美咲 翔太 さくら 健一 陽菜 大輔 結衣 直樹", "佐藤|鈴木|髙橋|田中|渡邉|小林", "京都:600-8001|札幌:060-0001|那覇:900-0001", "81"),
    ("zh_TW", "TW", 8, "小明 雅婷 志豪 淑芬 家豪 怡君 俊傑 美玲", "王|李|陳|歐陽|林|張", "臺北:100|高雄:800|臺南:700", "886"),
    ("ko_KR", "KR", 9, "지민 서연 민준 하은 도윤 수아 예준 지우", "김|이|박|최|남궁|정", "서울:04524|부산:48058|제주:63122", "82"),
    ("ar_LB", "LB", 2, "ليلى كريم نور سامي ياسمين طارق رنا فادي", "حداد|خوري|الحسن|عبد الرحمن|سليمان|منصور", "بيروت:1100|طرابلس:1300|صيدا:1600", "961"),
    ("tr_TR", "TR", 3, "İbrahim Ayşe Çağla Oğuz Şule Ümit Gül Işıl", "Yıldız|Öztürk|Çelik|Şahin|Güneş|Aydın", "İzmir:35000|Muğla:48000|Ankara:06000", "90"),
    ("vi_VN", "VN", 7, "Anh Hương Tuấn Thảo Đức Ngọc Phương Quân", "Nguyễn|Trần|Lê|Phạm|Đặng|Bùi", "Huế:530000|Đà Nẵng:550000|Cần Thơ:900000", "84"),
]

NOTES = [
    "", "", "", "", "", "", "likes poetry, nature", 'asked for the "large print" edition', "gift wrapping: always",
    "moved house\nsend post to the new address", "reads on the train, 07:40", "two cats; no calls before noon",
    'said: "call me, maybe"\nthen did not answer', "préfère le français", "生日：三月九日", "👩‍👧 buys for her daughter",
    "=SUM(A1:A9)", "tab\there", "trailing space ",
]

TIERS = ["bronze"] * 5 + ["silver"] * 3 + ["gold"] * 2


def person(number, chance):
    """Returns a valid row."""
    locale, country, offset, given, family, places, code = chance.choice(WORLD)
    given, family = chance.choice(given.split()), chance.choice(family.split("|"))
    city, postal = chance.choice(places.split("|")).split(":")
    key = f"member-{500000 + number}"
    born = datetime.date(1941, 1, 1) + datetime.timedelta(days=chance.randrange(24800))
    is_android = chance.random() < 0.45
    has_device = chance.random() < 0.9
    opt_in = datetime.date(2027, 1, 1) + datetime.timedelta(days=chance.randrange(1400))
    has_left = chance.random() < 0.18
    opt_out = opt_in + datetime.timedelta(days=chance.randrange(1, 60)) if has_left else None
    was_asked = has_device and chance.random() < 0.95
    digits = "".join(chance.choice("0123456789abcdef") for _ in range(64))
    return {
        "Contact Key": key,
        "Email Address": f"{key}@mail.example" if chance.random() < 0.97 else "",
        "Mobile Number": f"{code}{chance.randrange(10**8, 10**9)}" if chance.random() < 0.6 else "",
        "First Name": given, "Last Name": family, "_City": city, "_ZipCode": postal, "Country": country, "Locale": locale,
        "Birth Date": f"{born.month}/{born.day}/{born.year}" if chance.random() < 0.7 else "",
        "Loyalty Tier": chance.choice(TIERS), "Points": str(chance.randrange(0, 9000)), "Notes": chance.choice(NOTES),
        "_DeviceID": f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}".upper() if has_device else "",
        "_SystemToken": digits if has_device else "",
        "_Platform": ("Android" if is_android else "iOS") if has_device else "",
        "_PlatformVersion": chance.choice(["14", "15", "16"] if is_android else ["18.5", "19.1", "19.3"]) if has_device else "",
        "_HardwareId": chance.choice(["Pixel 9", "Galaxy S24", "Galaxy A55"] if is_android else ["iPhone15,4", "iPhone16,1", "iPhone17,3"]) if has_device else "",
        "_UTCOffset": str(offset) if has_device else "",
        "_OptInDate": f"{opt_in.year}/{opt_in.month}/{opt_in.day}" if was_asked else "",
        "_OptOutDate": f"{opt_out.year}/{opt_out.month}/{opt_out.day}" if was_asked and opt_out else "",
        "_Status": "Active" if has_device else "",
    }


# The errors of invalid rows, each a column and its text, in the order of the rows.
FAULTS = [
    ("no contact key", "Contact Key", ""),
    ("an e-mail address without a host", "Email Address", "nobody@"),
    ("an e-mail address with a space", "Email Address", "two words@mail.example"),
    ("a telephone number with letters", "Mobile Number", "CALL-ME-NOW"),
    ("a day that does not exist", "Birth Date", "2/30/1990"),
    ("a date in words", "Birth Date", "March 9th, 1990"),
    ("an opt-in date that is none", "_OptInDate", "yes"),
    ("points that are no number", "Points", "many"),
]


def encode(fields):
    """Returns a row in the form of the vendor's exporter: quotes where needed, CR LF at the end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(fields)
    return text.getvalue().encode("utf-8")


def main():
    chance = random.Random("a bookshop's contacts")
    spoilt = sorted(chance.sample(range(40, ROWS - 40), 42))
    rows, counts = [], {}
    for number in range(ROWS):
        row = person(number, chance)
        if number not in spoilt:
            rows.append(encode(row.values()))
            continue
        place = spoilt.index(number)
        if place % 10 < len(FAULTS):
            name, column, text = FAULTS[place % 10]
            row[column] = text
            rows.append(encode(row.values()))
        elif place % 10 == 8:
            name = "a column too few"
            rows.append(encode(list(row.values())[:-1]))
        else:
            name = "bytes that are not UTF-8"
            rows.append(encode(row.values()).replace(row["Contact Key"].encode() + b",", row["Contact Key"].encode() + b"\xe9,", 1))
        counts[name] = counts.get(name, 0) + 1
    target = pathlib.Path(__file__).with_name("salesforce-contacts.csv")
    target.write_bytes(b"\xef\xbb\xbf" + encode(HEADER) + b"".join(rows))
    print(f"{target.name}: {ROWS} rows, {sum(counts.values())} of them bad")
    for name, count in sorted(counts.items()):
        print(f"  {count:3} {name}")


if __name__ == "__main__":
    main()
