"""The mapping in polars: map_polars.py IN OUT. Findings are not counted.

It stops at a line that is no JSON, so lines that end too early are left out by their text first. Members without a value are written as null, which the comparison of outputs leaves out.
"""

import sys

import polars as pl

source, target = sys.argv[1], sys.argv[2]
schema = {
    "identifiers": pl.List(pl.Struct({"kind": pl.String, "value": pl.String})),
    "attributes": pl.Struct({
        "birth_date": pl.Struct({"date": pl.String}), "city": pl.String, "country": pl.Struct({"country": pl.String}),
        "family_name": pl.String, "gender": pl.String, "given_name": pl.String, "loyalty_tier": pl.String,
        "remark": pl.String, "total": pl.Float64, "visits": pl.Int64,
    }),
    "tags": pl.List(pl.String),
    "subscriptions": pl.List(pl.Struct({"channel": pl.String, "state": pl.String})),
    "locale": pl.String, "timeZone": pl.String,
}


def identifier(kind):
    one = pl.element()
    wanted = one.filter(one.struct.field("kind") == kind).struct.field("value")
    return pl.col("identifiers").list.eval(wanted).list.first()


def attribute(*path):
    value = pl.col("attributes")
    for name in path:
        value = value.struct.field(name)
    return value


lines = pl.scan_csv(source, has_header=False, new_columns=["line"], separator="\x01", quote_char=None)
people = lines.filter(pl.col("line").str.contains("]", literal=True)).select(
    pl.col("line").str.json_decode(pl.Struct(schema))
).unnest("line").with_columns(
    external=identifier("external"), email=identifier("email"),
    number=identifier("phone").str.replace_all(r"[ ().-]", ""),
)
people = people.filter(pl.col("email").str.contains(r"^[^@\s]+@[^@\s]+$")).with_columns(
    phone=pl.when(pl.col("number").str.contains(r"^[+]?[0-9]{5,15}$")).then("number")
)
frame = people.collect(engine="streaming")
# A row of a list has members of its contact, which an expression on a list can't see: lists are taken apart and put together.
numbered = frame.with_row_index("n")
parts = (
    numbered.select("n", "email", "phone", "subscriptions").explode("subscriptions").unnest("subscriptions")
    .filter((pl.col("channel") == "email") | ((pl.col("channel") == "sms") & pl.col("phone").is_not_null()))
    .select(
        "n",
        pl.struct(
            "channel", pl.lit(31).alias("resource_id"),
            pl.when(pl.col("channel") == "email").then("email").alias("email"),
            pl.when(pl.col("channel") == "sms").then("phone").alias("phone"),
            pl.col("state").alias("status"),
        ).alias("row"),
    )
    .group_by("n", maintain_order=True).agg(pl.col("row").alias("rows"))
)
sex = attribute("gender")
numbered.join(parts, on="n", how="left", maintain_order="left").select(
    pl.lit(7).alias("db_id"), pl.lit("email").alias("matching"), "email",
    pl.struct(
        pl.col("external").alias("customer_number"), "email",
        pl.when(pl.col("phone").is_not_null()).then(pl.concat_list("phone")).alias("phones"),
        attribute("birth_date", "date").alias("_bdate"), attribute("city").alias("_city"),
        attribute("country", "country").alias("_country"), attribute("family_name").alias("_lname"),
        pl.when(sex == "male").then(1).when(sex == "female").then(2).alias("_sex"),
        attribute("given_name").alias("_fname"), attribute("loyalty_tier").alias("loyalty_tier"),
        attribute("remark").alias("remark"), attribute("total").alias("total"), attribute("visits").alias("visits"),
        pl.col("timeZone").alias("_tz"), pl.col("tags").list.sort().alias("labels"),
        pl.col("rows").alias("subscriptions"),
    ).alias("data"),
).write_ndjson(target)
