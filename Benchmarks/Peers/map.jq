# The mapping in jq: jq -cRf map.jq IN. Lines that are no JSON are passed over; findings are not counted.
def named($name): if . == null then {} else {($name): .} end;
fromjson? // empty
| .attributes as $a
| (reduce .identifiers[] as $i ({}; .[$i.kind] = $i.value)) as $id
| select(($id.email // "") | test("^[^@\\s]+@[^@\\s]+$"))
| (($id.phone // "") | gsub("[ ().-]"; "") | if test("^[+]?[0-9]{5,15}$") then . else null end) as $phone
| {
    db_id: 7, matching: "email", email: $id.email,
    data: (
      {customer_number: $id.external, email: $id.email}
      + (if $phone then {phones: [$phone]} else {} end)
      + ($a.birth_date.date | named("_bdate")) + ($a.city | named("_city")) + ($a.country.country | named("_country"))
      + ($a.family_name | named("_lname")) + ({"male": 1, "female": 2}[$a.gender // ""] | named("_sex"))
      + ($a.given_name | named("_fname")) + ($a.loyalty_tier | named("loyalty_tier")) + ($a.remark | named("remark"))
      + ($a.total | named("total")) + ($a.visits | named("visits")) + (.timeZone | named("_tz"))
      + (.tags | if . then {labels: (unique)} else {} end)
      + {subscriptions: [
          .subscriptions[]
          | if .channel == "email" then {channel, resource_id: 31, email: $id.email, status: .state}
            elif .channel == "sms" and $phone then {channel, resource_id: 31, phone: $phone, status: .state}
            else empty end
        ]}
    )
  }
