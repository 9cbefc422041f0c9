#!/usr/bin/env python3
"""A whole participant with nothing but Python's standard library: orders in SQLite, behind Atone's barrier.

    order_service_sqlite.py BARRIER.SQL ORDERS.DB [PORT]

BARRIER.SQL is what `atone barrier --dialect sqlite` prints. Prints "listening on 127.0.0.1:PORT"; ends when it is told to.
"""
import json
import re
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def read_statements(path):
    """The named statements of the printed barrier."""
    parts = re.split(r"^-- :name (\w+)\n", open(path, encoding="utf-8").read(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


class Orders(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    # [participant]
    def behind_the_barrier(self, business):
        key = {name.lower(): self.headers["Atone-" + name] for name in ("Saga", "Step", "Op")}
        db = sqlite3.connect(self.server.database, timeout=10, isolation_level=None)
        try:
            db.execute("begin immediate")
            verdict, _, status, answer = db.execute(self.server.barrier["look"], key).fetchone()
            if verdict == "proceed":
                db.execute(self.server.barrier["claim"], key)
                db.execute("savepoint business")
                status, body = business(db)
                if status >= 400:
                    db.execute("rollback to business")
                answer = json.dumps(body).encode()
                stored = {"verdict": "done" if status < 400 else "no", "status": status, "answer": answer}
                db.execute(self.server.barrier["answer"], {**key, **stored})
            elif verdict == "empty":
                db.execute(self.server.barrier["empty"], key)
                status, answer = 200, b"{}"
            elif verdict == "refused":
                status, answer = 409, b'{"error":"already compensated"}'
            db.execute("commit")
            status, answer = status or 200, as_bytes(answer)
        except sqlite3.Error as failure:  # nothing happened: the coordinator tries again
            status, answer = 503, json.dumps({"error": str(failure)}).encode()
        finally:
            db.close()
        self.reply(status, answer)  # only now: it is committed
    # [participant]

    def do_POST(self):
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)))
        self.behind_the_barrier(lambda db: insert_order(db, order["order_id"]))

    def do_DELETE(self):
        order_id = int(self.path.rsplit("/", 1)[1])
        self.behind_the_barrier(lambda db: delete_order(db, order_id))

    def do_GET(self):
        self.reply(404, b"{}")

    def reply(self, status, answer):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def as_bytes(stored):
    """SQLite gives back what it was given: text or bytes."""
    return stored.encode() if isinstance(stored, str) else stored or b""


def insert_order(db, order_id):
    if db.execute("select 1 from orders where order_id = ?", (order_id,)).fetchone():
        return 409, {"error": "order exists"}
    db.execute("insert into orders (order_id) values (?)", (order_id,))
    return 200, {"order_id": order_id}


def delete_order(db, order_id):
    db.execute("delete from orders where order_id = ?", (order_id,))
    return 200, {}


def main():
    barrier, database = read_statements(sys.argv[1]), sys.argv[2]
    db = sqlite3.connect(database)
    db.execute("pragma journal_mode = wal")
    db.executescript(barrier["table"] + "create table if not exists orders (order_id integer primary key)")
    db.close()
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3]) if len(sys.argv) > 3 else 0), Orders)
    server.barrier, server.database = barrier, database
    print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
