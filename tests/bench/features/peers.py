#!/usr/bin/env python3
"""The bench's as-of job in Polars and DuckDB, by CPU seconds, from the columns that feature_bench has written.

    feature_bench 2357000 3 1 FOLDER && peers.py FOLDER      (pip install polars==2.1.0 duckdb==2.0.1 numpy pyarrow)

Prints the same totals as feature_bench, so that it is seen that the answers are the same.
"""

import resource
import sys
import time
from pathlib import Path

import duckdb
import numpy
import polars as pl

DAY = 86_400_000_000
END = 546 * DAY
WINDOWS = (7, 30, 90)
HALF_LIFE = 30 * DAY


def measured(name, work):
    best = None
    for _ in range(2):
        before, wall = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        answer = work()
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        figures = (cpu, time.monotonic() - wall)
        best = min(best or figures, figures)
    print(f"{name:28} {best[0]:8.3f} CPU s {best[1]:8.3f} s")
    return answer


def in_polars(frame, with_lists):
    age = END - pl.col("at")
    columns = []
    for days in WINDOWS:
        price = pl.col("price").filter(age < days * DAY)
        columns += [price.len().alias(f"count_{days}d"), price.sum().alias(f"sum_{days}d"), price.mean().alias(f"mean_{days}d"),
                    price.min().alias(f"min_{days}d"), price.max().alias(f"max_{days}d"), price.std().alias(f"deviation_{days}d")]
    columns += [age.min().alias("age"), (pl.col("price") * (-(age / HALF_LIFE)).mul(0.6931471805599453).exp()).sum().alias("warmth")]
    if with_lists:
        columns += [pl.col("product").n_unique().alias("products_ever"), pl.col("price").sort_by("at", "id").tail(5).alias("newest")]
    return frame.lazy().group_by("customer").agg(columns).collect()


def in_duckdb(frame, with_lists):
    columns = []
    for days in WINDOWS:
        keep = f"filter (where {END} - \"at\" < {days * DAY})"
        columns += [f"count(*) {keep} count_{days}d", f"sum(price) {keep} sum_{days}d", f"avg(price) {keep}", f"min(price) {keep}",
                    f"max(price) {keep}", f"stddev_samp(price) {keep}"]
    columns += [f"{END} - max(\"at\")", f"sum(price * exp(-ln(2.0) * ({END} - \"at\") / {HALF_LIFE}))"]
    if with_lists:
        columns += ["count(distinct product) products_ever", "list(price order by \"at\" desc, id desc)[1:5]"]
    return duckdb.sql(f"select customer, {', '.join(columns)} from frame group by customer").pl()


def main():
    folder = Path(sys.argv[1])
    frame = pl.DataFrame({path.stem: numpy.fromfile(path, dtype=numpy.int64) for path in sorted(folder.glob("*.i64"))})
    print(frame.height, "rows, polars", pl.__version__, "duckdb", duckdb.__version__)
    for name, run in (("polars", in_polars), ("duckdb", in_duckdb)):
        measured(f"{name}, aggregates only", lambda: run(frame, False))
        answer = measured(f"{name}, all", lambda: run(frame, True))
        for days in WINDOWS:
            print(f"total count_{days}d {answer[f'count_{days}d'].sum()}")
            print(f"total sum_{days}d {answer[f'sum_{days}d'].sum()}")
        print(f"total products_ever {answer['products_ever'].sum()}")


if __name__ == "__main__":
    main()
