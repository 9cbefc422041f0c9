"""A participant in Python on PostgreSQL (Flask and psycopg 3). The barrier comes from `atone barrier --dialect postgresql`."""
import json
import os

from flask import Flask, Response, request
from psycopg import Rollback
from psycopg_pool import ConnectionPool

app = Flask(__name__)
pool = ConnectionPool(os.environ["ORDERS_DB"])


# [participant]
def behind_the_barrier(business):
    saga, step, op = (request.headers["Atone-" + name] for name in ("Saga", "Step", "Op"))
    with pool.connection() as db, db.transaction():
        verdict, status, answer, refused = db.execute(
            "select verdict, status, answer, refused from atone_barrier(%s, %s, %s)", (saga, step, op)).fetchone()
        if verdict == "proceed":
            with db.transaction() as savepoint:
                status, body = business(db)
                answer, refused = json.dumps(body).encode(), status >= 400
                if refused:
                    raise Rollback(savepoint)  # undoes the business, not the barrier
            db.execute("select atone_answer(%s, %s, %s, %s, %s, %s)", (saga, step, op, refused, status, answer))
    return Response(answer, status, mimetype="application/json")  # only now: it is committed


@app.post("/orders")
def create_order():
    order = request.get_json()
    return behind_the_barrier(lambda db: insert_order(db, order["order_id"]))


@app.delete("/orders/<int:order_id>")
def cancel_order(order_id):
    return behind_the_barrier(lambda db: delete_order(db, order_id))
# [participant]


def insert_order(db, order_id):
    made = db.execute("insert into orders (order_id) values (%s) on conflict do nothing returning order_id", (order_id,)).fetchone()
    return (200, {"order_id": order_id}) if made else (409, {"error": "order exists"})


def delete_order(db, order_id):
    db.execute("delete from orders where order_id = %s", (order_id,))
    return 200, {}
