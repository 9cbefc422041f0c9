-- Atone's tables on PostgreSQL. Applied by `atone db migrate`, in one transaction, under an advisory lock.
--
-- Every key begins with the virtual shard, so that a distributed PostgreSQL can spread the tables. Whatever comes from
-- outside is bytea: kept byte for byte. Numbers that stand for words (status, kind, operation …) are those of
-- schemas/include/atone/{event,ids,records}.hpp and never change their meaning; the views of 0003 show the words.

-- How many virtual shards there are: fixed for the life of the database. Another number than 64 is chosen before the
-- first migration with: alter database … set atone.shards = 16
create table atone.layout (
  only_row boolean primary key default true check (only_row),
  shards smallint not null check (shards between 1 and 4096)
);
insert into atone.layout (shards) values (coalesce(nullif(current_setting('atone.shards', true), ''), '64')::smallint);

-- Who may write. Each commit locks this one row last and stores its number: a writer whose epoch is not this one, or
-- that works through another backend than this one, is refused there. Updated in place by every commit: room for it.
create table atone.writer (
  id smallint primary key default 1 check (id = 1),
  node text not null default '',
  epoch bigint not null default 0,
  batch_number bigint not null default 0,
  backend_pid integer not null default 0,
  backend_start timestamptz not null default '-infinity',
  taken_at timestamptz not null default '-infinity',
  committed_at timestamptz not null default '-infinity'
) with (fillfactor = 10);
insert into atone.writer (id) values (1);

create table atone.definition (
  name text not null,
  version integer not null,
  hash bytea not null,
  text text not null,                    -- the YAML as published
  published_at timestamptz not null,
  primary key (name, version)
);

-- One row a saga, written once when it starts and again when its status changes: half of each page is left free, so that
-- the second version lands beside the first.
create table atone.saga (
  shard smallint not null,
  status smallint not null,
  version integer not null,
  saga_id uuid not null,
  crashes integer not null,
  last_seq integer not null,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  definition text not null,
  definition_hash bytea not null,
  business_key text not null,            -- empty: none
  cause text not null,                   -- first cause of a failure; empty: none
  output bytea not null,                 -- JSON once completed; empty before
  primary key (shard, saga_id)
) with (fillfactor = 50);
-- What a take-over has to read, however many sagas have ended (5 completed, 6 compensated).
create index saga_open on atone.saga (shard, saga_id) where status not in (5, 6);

-- Business keys: whoever inserts first owns the name. The shard is the key's own, not the saga's. Keys outlive sagas.
create table atone.saga_key (
  shard smallint not null,
  saga_shard smallint not null,
  saga_id uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  saga_name text not null,
  business_key text not null,
  body bytea not null,                   -- SHA-256 of the canonical input
  primary key (shard, saga_name, business_key)
);

-- The events, in order: replaying them gives the saga's state. Never updated.
create table atone.journal (
  at timestamptz not null,
  random bigint not null,                -- 64 bits, read as unsigned
  retry_after bigint not null,           -- microseconds
  seq integer not null,
  cause integer not null,
  attempt integer not null,
  http_status integer not null,
  shard smallint not null,
  kind smallint not null,
  operation smallint not null,
  sureness smallint not null,
  timer smallint not null,
  format smallint not null,              -- version of this row's meaning (event_format)
  saga_id uuid not null,
  step text not null,
  note text not null,                    -- reason, note or key, for people
  actor text not null,
  payload bytea not null,
  primary key (shard, saga_id, seq)
);

-- What is undone and how far that got: pending before a compensation is sent, looked up first, a success never changes.
create table atone.compensation_log (
  shard smallint not null,
  saga_id uuid not null,
  trace_id text not null,                -- 32 hex digits, from saga, step path and operation
  step text not null,
  operation text not null,
  status text not null check (status in ('pending', 'success', 'failed', 'skipped')),
  attempts integer not null,
  last_error text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (shard, saga_id, trace_id)
) with (fillfactor = 70);

-- One row for each (saga, step, kind): a later alert takes its place.
create table atone.alert (
  shard smallint not null,
  saga_id uuid not null,
  step text not null,
  kind text not null,
  level smallint not null,
  text text not null,
  raised_at timestamptz not null,
  primary key (shard, saga_id, step, kind)
);
create index alert_newest on atone.alert (raised_at);

create table atone.last_output (
  shard smallint not null,               -- of (saga_name, step, key)
  saga_name text not null,
  step text not null,
  key text not null,
  written_by uuid not null,
  at timestamptz not null,
  output bytea not null,
  primary key (shard, saga_name, step, key)
) with (fillfactor = 70);

create table atone.operator_action (
  shard smallint not null,
  saga_id uuid not null,
  number bigint generated always as identity,
  actor text not null,
  action text not null,
  step text not null,
  note text not null,
  outcome text not null,
  at timestamptz not null,
  primary key (shard, saga_id, number)
);
