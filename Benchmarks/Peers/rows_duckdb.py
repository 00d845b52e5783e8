"""The mapping of rows in DuckDB's SQL: rows_duckdb.py THREADS IN OUT. Members without a value are written as null."""

import sys

import duckdb

threads, source, target = int(sys.argv[1]), sys.argv[2], sys.argv[3]
duckdb.connect(config={"threads": threads}).execute(
    f"""
    COPY (
      WITH contact AS (
        SELECT trim("Contact Key") AS key, trim("Email Address") AS email, regexp_replace(trim("Mobile Number"), '[ ().-]', '', 'g') AS phone, *
        FROM read_csv('{source}', header = true, all_varchar = true, delim = ',', quote = '"', escape = '"')
      )
      SELECT 7 AS db_id, 'email' AS matching, email, {{
        'customer_number': key, 'email': email, 'phones': CASE WHEN regexp_full_match(phone, '[+]?[0-9]{{5,15}}') THEN [phone] END,
        '_city': nullif(trim(City), ''), '_country': nullif(trim(Country), ''), '_lname': nullif(trim("Last Name"), ''),
        '_fname': nullif(trim("First Name"), ''), 'loyalty_tier': nullif(trim("Loyalty Tier"), ''),
        'remark': nullif(trim(Remark), ''), 'visits': nullif(trim(Visits), '')
      }} AS data
      FROM contact
      WHERE key <> '' AND regexp_full_match(email, '[^@ ]+@[^@ .]+([.][^@ .]+)+')
    ) TO '{target}' (FORMAT json)
    """
)
