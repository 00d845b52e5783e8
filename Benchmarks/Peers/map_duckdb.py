"""The mapping in DuckDB's SQL: map_duckdb.py THREADS IN OUT.

It writes members without a value as null, which the comparison of outputs leaves out; findings are not counted.
"""

import sys

import duckdb

threads, source, target = int(sys.argv[1]), sys.argv[2], sys.argv[3]
database = duckdb.connect(config={"threads": threads})
database.execute(
    f"""
    COPY (
      WITH contact AS (
        SELECT *,
          list_filter(identifiers, lambda i: i.kind = 'external')[1].value AS external,
          list_filter(identifiers, lambda i: i.kind = 'email')[1].value AS email,
          regexp_replace(list_filter(identifiers, lambda i: i.kind = 'phone')[1].value, '[ ().-]', '', 'g') AS number
        FROM read_json('{source}', format = 'newline_delimited', ignore_errors = true, columns = {{
          identifiers: 'STRUCT(kind VARCHAR, "value" VARCHAR)[]',
          attributes: 'STRUCT(birth_date STRUCT("date" DATE), city VARCHAR, country STRUCT(country VARCHAR),
            family_name VARCHAR, gender VARCHAR, given_name VARCHAR, loyalty_tier VARCHAR, remark VARCHAR,
            total DECIMAL(12, 2), visits BIGINT)',
          tags: 'VARCHAR[]', subscriptions: 'STRUCT(channel VARCHAR, state VARCHAR)[]', locale: 'VARCHAR',
          timeZone: 'VARCHAR'}})
      ), checked AS (
        SELECT *, CASE WHEN regexp_full_match(number, '[+]?[0-9]{{5,15}}') THEN number END AS phone
        FROM contact WHERE regexp_full_match(email, '[^@ ]+@[^@ ]+')
      )
      SELECT 7 AS db_id, 'email' AS matching, email, {{
        'customer_number': external, 'email': email,
        'phones': CASE WHEN phone IS NOT NULL THEN [phone] END,
        '_bdate': attributes.birth_date."date", '_city': attributes.city, '_country': attributes.country.country,
        '_lname': attributes.family_name,
        '_sex': CASE attributes.gender WHEN 'male' THEN 1 WHEN 'female' THEN 2 END,
        '_fname': attributes.given_name, 'loyalty_tier': attributes.loyalty_tier, 'remark': attributes.remark,
        'total': attributes.total, 'visits': attributes.visits, '_tz': timeZone, 'labels': list_sort(tags),
        'subscriptions': list_transform(
          list_filter(subscriptions, lambda s: s.channel = 'email' OR (s.channel = 'sms' AND phone IS NOT NULL)),
          lambda s: {{'channel': s.channel, 'resource_id': 31,
            'email': CASE WHEN s.channel = 'email' THEN email END,
            'phone': CASE WHEN s.channel = 'sms' THEN phone END, 'status': s.state}})
      }} AS data
      FROM checked
    ) TO '{target}' (FORMAT json)
    """
)
