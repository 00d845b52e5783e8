// The mapping of contacts to import lines, written by hand over simdjson's on-demand parser, as well as that goes: one
// pass in the order of the fields, strings copied from the text unless they hold an escape, no allocation a record.
// Usage: map_simdjson IN OUT. Says records, rejects and findings on standard error.
#include <simdjson.h>

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace simdjson;
using std::string_view;

static bool is_country[26][26];
static const char *const countries =
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC "
    "CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD "
    "GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH "
    "KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW "
    "MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC "
    "SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY "
    "UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

struct Output {
    int file;
    std::vector<char> bytes = std::vector<char>(1 << 20);
    size_t used = 0;

    char *room(size_t count) {
        if (bytes.size() - used < count) {
            flush();
            if (bytes.size() < count) bytes.resize(count);
        }
        return bytes.data() + used;
    }
    void flush() {
        for (size_t at = 0; at < used;) {
            ssize_t n = write(file, bytes.data() + at, used - at);
            if (n < 0) { perror("write"); exit(2); }
            at += size_t(n);
        }
        used = 0;
    }
};

struct Pen {
    char *p;
    void put(char c) { *p++ = c; }
    template <size_t N> void lit(const char (&text)[N]) { memcpy(p, text, N - 1); p += N - 1; }
    void put(string_view text) { memcpy(p, text.data(), text.size()); p += text.size(); }
    void quote(string_view text) { put('"'); put(text); put('"'); }
    void escaped(string_view text) {
        static const char digits[] = "0123456789abcdef";
        put('"');
        for (char c : text) {
            switch (c) {
            case '"': lit("\\\""); break;
            case '\\': lit("\\\\"); break;
            case '\n': lit("\\n"); break;
            case '\r': lit("\\r"); break;
            case '\t': lit("\\t"); break;
            case '\b': lit("\\b"); break;
            case '\f': lit("\\f"); break;
            default:
                if ((unsigned char)c < 0x20) { lit("\\u00"); put(digits[c >> 4]); put(digits[c & 15]); } else put(c);
            }
        }
        put('"');
    }
};

// A string's text; `raw` if it can be copied as it stands.
struct Text {
    string_view text;
    bool raw = true;
    bool there = false;
    void write(Pen &pen) const { raw ? pen.quote(text) : pen.escaped(text); }
};

static Text text_of(ondemand::value value) {
    Text result;
    result.there = true;
    string_view token = value.raw_json_token();
    if (token.empty() || token[0] != '"') throw simdjson_error(INCORRECT_TYPE);
    // The token goes on to the next one: cut off what stands behind the closing quote.
    size_t end = token.size();
    while (token[end - 1] != '"') end--;
    string_view inner = token.substr(1, end - 2);
    if (memchr(inner.data(), '\\', inner.size())) {
        result.raw = false;
        result.text = value.get_string();
    } else {
        result.text = inner;
        // Makes the parser pass the token.
        (void)value.get_string().value();
    }
    return result;
}

static bool is_email(string_view text) {
    size_t at = text.find('@');
    if (at == string_view::npos || at == 0 || at + 1 == text.size()) return false;
    for (size_t i = 0; i < text.size(); i++)
        if ((text[i] == '@' && i != at) || text[i] == ' ' || (text[i] >= 9 && text[i] <= 13)) return false;
    return true;
}

static size_t phone(string_view text, char *out) {
    size_t count = 0, digits = 0;
    for (char c : text) {
        if (c >= '0' && c <= '9') { if (++digits > 15) return 0; }
        else if (c == '+') { if (count) return 0; }
        else if (c == ' ' || c == '-' || c == '(' || c == ')' || c == '.') continue;
        else return 0;
        out[count++] = c;
    }
    return digits >= 5 ? count : 0;
}

static bool is_date(string_view t) {
    if (t.size() != 10 || t[4] != '-' || t[7] != '-') return false;
    for (int i : {0, 1, 2, 3, 5, 6, 8, 9}) if (t[i] < '0' || t[i] > '9') return false;
    int year = (t[0] - '0') * 1000 + (t[1] - '0') * 100 + (t[2] - '0') * 10 + t[3] - '0';
    int month = (t[5] - '0') * 10 + t[6] - '0', day = (t[8] - '0') * 10 + t[9] - '0';
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1) return false;
    int last = days[month - 1] + (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    return day <= last;
}

struct Counts { size_t records = 0, written = 0, rejected = 0, no_home = 0, address = 0, unreachable = 0; } counts;

enum Reject { none, no_key };

// Maps one contact; false if it has no e-mail address to be found by. Throws on what is no contact.
static bool map(ondemand::object contact, Pen &pen) {
    Text external, email, birth, city, country, family, gender, given, tier, remark, zone;
    string_view phone_text, total, visits;
    string_view tags[32];
    struct { string_view channel, state; } subscriptions[8];
    size_t tag_count = 0, subscription_count = 0;
    bool has_phone = false, has_locale = false;
    for (auto field : contact) {
        string_view key = field.unescaped_key();
        ondemand::value value = field.value();
        if (key == "identifiers") {
            for (ondemand::object identifier : value.get_array()) {
                string_view kind = identifier["kind"];
                Text text = text_of(identifier["value"]);
                if (kind == "email") email = text;
                else if (kind == "external") external = text;
                else if (kind == "phone") { phone_text = text.text; has_phone = true; }
            }
        } else if (key == "attributes") {
            for (auto attribute : value.get_object()) {
                string_view name = attribute.unescaped_key();
                ondemand::value inner = attribute.value();
                if (name == "given_name") given = text_of(inner);
                else if (name == "family_name") family = text_of(inner);
                else if (name == "city") city = text_of(inner);
                else if (name == "birth_date") birth = text_of(inner["date"]);
                else if (name == "country") country = text_of(inner["country"]);
                else if (name == "gender") gender = text_of(inner);
                else if (name == "loyalty_tier") tier = text_of(inner);
                else if (name == "remark") remark = text_of(inner);
                else if (name == "total") { total = inner.raw_json_token(); (void)inner.get_double().value(); }
                else if (name == "visits") { visits = inner.raw_json_token(); (void)inner.get_int64().value(); }
                else throw simdjson_error(NO_SUCH_FIELD);
            }
        } else if (key == "tags") {
            for (string_view tag : value.get_array()) {
                size_t place = tag_count++;
                while (place > 0 && tag < tags[place - 1]) { tags[place] = tags[place - 1]; place--; }
                tags[place] = tag;
            }
        } else if (key == "subscriptions") {
            for (ondemand::object subscription : value.get_array()) {
                auto &row = subscriptions[subscription_count++];
                row.channel = subscription["channel"];
                row.state = subscription["state"];
            }
        } else if (key == "locale") { has_locale = true; (void)value.get_string().value();
        } else if (key == "timeZone") zone = text_of(value);
        else throw simdjson_error(NO_SUCH_FIELD);
    }
    if (!email.there || !is_email(email.text)) return false;
    if (birth.there && !is_date(birth.text)) throw simdjson_error(INCORRECT_TYPE);
    if (country.there && (country.text.size() != 2 || country.text[0] < 'A' || country.text[0] > 'Z' || country.text[1] < 'A'
        || country.text[1] > 'Z' || !is_country[country.text[0] - 'A'][country.text[1] - 'A']))
        throw simdjson_error(INCORRECT_TYPE);
    char number[80];
    size_t digits = has_phone && phone_text.size() < 64 ? phone(phone_text, number) : 0;
    auto trim = [](string_view token) {
        while (!token.empty() && (unsigned char)token.back() <= ' ') token.remove_suffix(1);
        return token;
    };
    pen.lit("{\"db_id\":7,\"matching\":\"email\",\"email\":");
    email.write(pen);
    pen.lit(",\"data\":{");
    if (external.there) { pen.lit("\"customer_number\":"); external.write(pen); pen.put(','); }
    pen.lit("\"email\":");
    email.write(pen);
    if (digits) { pen.lit(",\"phones\":["); pen.quote({number, digits}); pen.put(']'); }
    else if (has_phone) counts.address++;
    if (birth.there) { pen.lit(",\"_bdate\":"); birth.write(pen); }
    if (city.there) { pen.lit(",\"_city\":"); city.write(pen); }
    if (country.there) { pen.lit(",\"_country\":"); country.write(pen); }
    if (family.there) { pen.lit(",\"_lname\":"); family.write(pen); }
    if (gender.there) { if (gender.text == "female") pen.lit(",\"_sex\":2"); else if (gender.text == "male") pen.lit(",\"_sex\":1"); }
    if (given.there) { pen.lit(",\"_fname\":"); given.write(pen); }
    if (tier.there) { pen.lit(",\"loyalty_tier\":"); tier.write(pen); }
    if (remark.there) { pen.lit(",\"remark\":"); remark.write(pen); }
    if (!total.empty()) { pen.lit(",\"total\":"); pen.put(trim(total)); }
    if (!visits.empty()) { pen.lit(",\"visits\":"); pen.put(trim(visits)); }
    if (zone.there) { pen.lit(",\"_tz\":"); zone.write(pen); }
    if (has_locale) counts.no_home++;
    if (tag_count) {
        pen.lit(",\"labels\":[");
        for (size_t i = 0; i < tag_count; i++) { if (i) pen.put(','); pen.quote(tags[i]); }
        pen.put(']');
    }
    char sign = '[';
    for (size_t i = 0; i < subscription_count; i++) {
        auto &row = subscriptions[i];
        bool is_email = row.channel == "email";
        if (!is_email && !(row.channel == "sms" && digits)) { counts.unreachable++; continue; }
        if (sign == '[') pen.lit(",\"subscriptions\":");
        pen.put(sign);
        sign = ',';
        if (is_email) { pen.lit("{\"channel\":\"email\",\"resource_id\":31,\"email\":"); email.write(pen); }
        else { pen.lit("{\"channel\":\"sms\",\"resource_id\":31,\"phone\":"); pen.quote({number, digits}); }
        pen.lit(",\"status\":");
        pen.quote(row.state);
        pen.put('}');
    }
    if (sign == ',') pen.put(']');
    pen.lit("}}\n");
    return true;
}

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    for (const char *c = countries; *c; c += c[2] ? 3 : 2) is_country[c[0] - 'A'][c[1] - 'A'] = true;
    int in = open(argv[1], O_RDONLY);
    Output out{open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600)};
    if (in < 0 || out.file < 0) { perror("open"); return 2; }
    ondemand::parser parser;
    const size_t chunk = 256 << 10;
    std::vector<char> bytes(2 * chunk + SIMDJSON_PADDING);
    size_t have = 0;
    while (true) {
        if (bytes.size() < have + chunk + SIMDJSON_PADDING) bytes.resize(2 * bytes.size());
        ssize_t n = read(in, bytes.data() + have, chunk);
        if (n < 0) { perror("read"); return 2; }
        have += size_t(n);
        size_t start = 0;
        while (start < have) {
            char *end = (char *)memchr(bytes.data() + start, '\n', have - start);
            if (!end) {
                if (n > 0) break;
                end = bytes.data() + have;
            }
            size_t length = size_t(end - (bytes.data() + start));
            if (length > 0) {
                counts.records++;
                Pen pen{out.room(16 * length + 4096)};
                char *begin = pen.p;
                try {
                    auto document = parser.iterate(bytes.data() + start, length, bytes.size() - start);
                    bool ok = map(document.get_object(), pen);
                    if (ok) { counts.written++; out.used += size_t(pen.p - begin); } else counts.rejected++;
                } catch (simdjson_error &) { counts.rejected++; }
            }
            start = size_t(end - bytes.data()) + 1;
        }
        if (n == 0) break;
        if (start > have) start = have;
        memmove(bytes.data(), bytes.data() + start, have - start);
        have -= start;
    }
    out.flush();
    fprintf(stderr, "{\"read\":%zu,\"written\":%zu,\"rejected\":%zu,\"noHome\":%zu,\"address\":%zu,\"unreachable\":%zu}\n",
            counts.records, counts.written, counts.rejected, counts.no_home, counts.address, counts.unreachable);
}
