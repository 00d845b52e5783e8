# The mapping for jq: jq -c -R -f map.jq IN > OUT. Findings are not counted.
def fields: {birth_date: "_bdate", city: "_city", country: "_country", family_name: "_lname", given_name: "_fname"};
try (fromjson
  | (.identifiers | map({(.kind): .value}) | add) as $ids
  | select(($ids.email // "") | test("^[^@\\s]+@[^@\\s]+$"))
  | (($ids.phone // "") | gsub("[ ().-]"; "") | select(test("^\\+?[0-9]{5,15}$")) // null) as $phone
  | {db_id: 7, matching: "email", email: $ids.email,
     data: (
       {customer_number: $ids.external, email: $ids.email}
       + (if $phone then {phones: [$phone]} else {} end)
       + (.attributes | to_entries | map(
           if .key == "gender" then {key: "_sex", value: {male: 1, female: 2}[.value]}
           else {key: (fields[.key] // .key), value: (.value | if type == "object" then (.date // .country) else . end)} end)
         | from_entries)
       + (if .timeZone then {_tz: .timeZone} else {} end)
       + (if .tags then {labels: (.tags | sort)} else {} end)
       + {subscriptions: [.subscriptions[] | if .channel == "email"
           then {channel, resource_id: 31, email: $ids.email, status: .state}
           elif $phone then {channel, resource_id: 31, phone: $phone, status: .state} else empty end]})}
) catch empty
