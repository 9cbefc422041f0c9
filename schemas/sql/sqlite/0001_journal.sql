-- Atone's durable log in one SQLite file. All names begin with atone_, so that the tables of a `sql` step can live beside
-- them. Every key begins with the shard; SQLite has one shard, 0, but the layout is the same as on PostgreSQL.
--
-- Ids are the 26 characters that people see; their text order is creation order. Times are microseconds since
-- 1970-01-01T00:00:00Z. Numbers of enumerations are never reused. WITHOUT ROWID: new rows land at the right edge of the tree.

-- One saga as listed; derived from its events, kept so that a list needs no replay.
CREATE TABLE atone_saga (
  shard           INTEGER NOT NULL,
  saga_id         TEXT    NOT NULL,
  definition      TEXT    NOT NULL,
  version         INTEGER NOT NULL,
  definition_hash BLOB    NOT NULL CHECK (length(definition_hash) = 32),
  business_key    TEXT    NOT NULL,             -- '' when none was given
  status          INTEGER NOT NULL,             -- 1 running 2 compensating 3 waiting 4 paused 5 completed 6 compensated 7 parked
  started_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  ended_at        INTEGER,
  cause           TEXT    NOT NULL,             -- first cause of a failure; '' when there was none
  output          TEXT    NOT NULL,             -- JSON, byte for byte; '' before the end
  crashes         INTEGER NOT NULL,
  last_event      INTEGER NOT NULL,
  PRIMARY KEY (shard, saga_id)
) WITHOUT ROWID;

-- What a take-over loads, however many sagas have ended.
CREATE INDEX atone_saga_open ON atone_saga (shard, saga_id, status) WHERE status NOT IN (5, 6);

-- How many sagas have ended, kept by the triggers below: counting them must not scan them.
CREATE TABLE atone_saga_ended (
  shard  INTEGER NOT NULL,
  status INTEGER NOT NULL,
  sagas  INTEGER NOT NULL,
  PRIMARY KEY (shard, status)
) WITHOUT ROWID;
INSERT INTO atone_saga_ended (shard, status, sagas) VALUES (0, 5, 0), (0, 6, 0);

CREATE TRIGGER atone_saga_started_ended AFTER INSERT ON atone_saga WHEN NEW.status IN (5, 6) BEGIN
  UPDATE atone_saga_ended SET sagas = sagas + 1 WHERE shard = NEW.shard AND status = NEW.status;
END;
CREATE TRIGGER atone_saga_ends AFTER UPDATE OF status ON atone_saga WHEN NEW.status IN (5, 6) AND NEW.status <> OLD.status BEGIN
  UPDATE atone_saga_ended SET sagas = sagas + 1 WHERE shard = NEW.shard AND status = NEW.status;
END;
CREATE TRIGGER atone_saga_leaves_end AFTER UPDATE OF status ON atone_saga WHEN OLD.status IN (5, 6) AND NEW.status <> OLD.status BEGIN
  UPDATE atone_saga_ended SET sagas = sagas - 1 WHERE shard = OLD.shard AND status = OLD.status;
END;
CREATE TRIGGER atone_saga_removed AFTER DELETE ON atone_saga WHEN OLD.status IN (5, 6) BEGIN
  UPDATE atone_saga_ended SET sagas = sagas - 1 WHERE shard = OLD.shard AND status = OLD.status;
END;

-- The events of a saga, from 1 without gaps. Replaying them gives its state.
CREATE TABLE atone_journal (
  shard       INTEGER NOT NULL,
  saga_id     TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  format      INTEGER NOT NULL,                 -- version of this row's form
  kind        INTEGER NOT NULL,                 -- 1 started 2 step_succeeded 3 step_refused 4 attempt_failed 5 timer_fired
                                                -- 6 last_output_found 7 last_output_missing 8 late_answer 9 cancel_requested
                                                -- 10 pause_requested 11 resume_requested 12 operator_retry 13 operator_skip
                                                -- 14 operator_complete 15 parked
  cause       INTEGER NOT NULL,                 -- the event this one answers
  at          INTEGER NOT NULL,
  random      INTEGER NOT NULL,                 -- 64 bits, as a signed number
  step        TEXT    NOT NULL,                 -- path; '' for the saga itself
  operation   INTEGER NOT NULL,                 -- 1 do 2 compensate 3 try 4 confirm 5 cancel 6 prepare 7 commit 8 abort 9 fallback
  attempt     INTEGER NOT NULL,
  sureness    INTEGER NOT NULL,                 -- 1 not_done 2 unknown
  timer       INTEGER NOT NULL,                 -- 1 retry 2 step_timeout 3 deadline
  status      INTEGER NOT NULL,                 -- HTTP status; 0 where there was none
  retry_after INTEGER NOT NULL,                 -- microseconds
  payload     BLOB    NOT NULL,                 -- bytes from outside, untouched
  text        TEXT    NOT NULL,
  actor       TEXT    NOT NULL,
  PRIMARY KEY (shard, saga_id, seq)
) WITHOUT ROWID;

-- Business keys: whoever claims one first has it. Keys outlive their sagas.
CREATE TABLE atone_start_key (
  shard        INTEGER NOT NULL,
  saga_name    TEXT    NOT NULL,
  business_key TEXT    NOT NULL,
  saga_id      TEXT    NOT NULL,
  body         BLOB    NOT NULL CHECK (length(body) = 32),  -- SHA-256 of the canonical input
  claimed_at   INTEGER NOT NULL,
  PRIMARY KEY (shard, saga_name, business_key)
) WITHOUT ROWID;

-- What is undone: written pending before it is sent, looked up before anything is compensated. A success is never overwritten.
CREATE TABLE atone_compensation_log (
  shard      INTEGER NOT NULL,
  saga_id    TEXT    NOT NULL,
  trace_id   TEXT    NOT NULL,                  -- 32 hex digits from saga, step and operation
  step       TEXT    NOT NULL,
  operation  INTEGER NOT NULL,
  status     INTEGER NOT NULL,                  -- 1 pending 2 success 3 failed 4 skipped
  attempts   INTEGER NOT NULL,
  last_error TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (shard, saga_id, trace_id)
) WITHOUT ROWID;

-- The one writer of this file: its epoch fences whoever wrote before; the last batch makes a repeated commit harmless.
CREATE TABLE atone_writer (
  shard       INTEGER NOT NULL PRIMARY KEY,
  node        TEXT    NOT NULL,
  epoch       INTEGER NOT NULL,
  last_batch  INTEGER NOT NULL,
  last_time   INTEGER NOT NULL,
  last_losers TEXT    NOT NULL                  -- one line each: refused saga, holding saga, body in hex
) WITHOUT ROWID;
INSERT INTO atone_writer (shard, node, epoch, last_batch, last_time, last_losers) VALUES (0, '', 0, 0, 0, '');

-- Published definitions; a version never changes.
CREATE TABLE atone_definition (
  name         TEXT    NOT NULL,
  version      INTEGER NOT NULL,
  hash         BLOB    NOT NULL CHECK (length(hash) = 32),
  text         TEXT    NOT NULL,                -- the YAML as published
  published_at INTEGER NOT NULL,
  PRIMARY KEY (name, version)
) WITHOUT ROWID;

-- The last good output of a step, by key: what `fallback: last_output` serves.
CREATE TABLE atone_last_output (
  shard      INTEGER NOT NULL,
  saga_name  TEXT    NOT NULL,
  step       TEXT    NOT NULL,
  output_key TEXT    NOT NULL,
  written_by TEXT    NOT NULL,
  output     TEXT    NOT NULL,                  -- JSON, byte for byte
  at         INTEGER NOT NULL,
  PRIMARY KEY (shard, saga_name, step, output_key)
) WITHOUT ROWID;

-- What a person should see, one for each (saga, step, kind): a later one takes its place.
CREATE TABLE atone_alert (
  shard     INTEGER NOT NULL,
  saga_id   TEXT    NOT NULL,
  step      TEXT    NOT NULL,
  kind      TEXT    NOT NULL,
  level     INTEGER NOT NULL,                   -- 1 info 2 warn 3 page
  text      TEXT    NOT NULL,
  raised_at INTEGER NOT NULL,
  PRIMARY KEY (shard, saga_id, step, kind)
) WITHOUT ROWID;
CREATE INDEX atone_alert_by_time ON atone_alert (shard, raised_at);

-- Who did what to a saga, refused actions included.
CREATE TABLE atone_operator_action (
  shard   INTEGER NOT NULL,
  saga_id TEXT    NOT NULL,
  number  INTEGER NOT NULL,                     -- from 1 in each saga
  actor   TEXT    NOT NULL,
  action  TEXT    NOT NULL,
  step    TEXT    NOT NULL,
  note    TEXT    NOT NULL,
  outcome TEXT    NOT NULL,                     -- 'done' or why not
  at      INTEGER NOT NULL,
  PRIMARY KEY (shard, saga_id, number)
) WITHOUT ROWID;
