-- The one call of a commit, and taking the store over.
--
-- SQLSTATEs of our own: AT001 the writer is fenced; AT002 the batch number does not follow the last one; AT003 the batch
-- changes a saga that is not there.

-- What a batch holds, one array of rows each. Types of their own, so that a table can get a column without breaking
-- a coordinator of the version before.
create type atone.start_row as (
  shard smallint, saga_id uuid, definition text, version integer, definition_hash bytea, business_key text, key_shard smallint,
  body bytea, status smallint, started_at timestamptz, updated_at timestamptz, ended_at timestamptz, cause text, output bytea,
  crashes integer, last_seq integer);
create type atone.record_row as (
  shard smallint, saga_id uuid, seq integer, cause integer, at timestamptz, random bigint, kind smallint, operation smallint,
  attempt integer, sureness smallint, timer smallint, http_status integer, retry_after bigint, format smallint, step text,
  note text, actor text, payload bytea);
create type atone.change_row as (
  shard smallint, saga_id uuid, status smallint, updated_at timestamptz, ended_at timestamptz, cause text, output bytea,
  crashes integer, last_seq integer);
create type atone.compensation_row as (
  shard smallint, saga_id uuid, trace_id text, step text, operation text, status text, attempts integer, last_error text,
  created_at timestamptz, updated_at timestamptz);
create type atone.alert_row as (
  shard smallint, saga_id uuid, step text, kind text, level smallint, text text, raised_at timestamptz);
create type atone.output_row as (
  shard smallint, saga_name text, step text, key text, written_by uuid, at timestamptz, output bytea);
create type atone.action_row as (
  shard smallint, saga_id uuid, actor text, action text, step text, note text, outcome text, at timestamptz);

-- Starts that lost their key to another saga.
create function atone.losers_of(p_starts atone.start_row[]) returns table (refused uuid, existing uuid, body bytea)
language sql stable
as $$
  select s.saga_id, k.saga_id, k.body
    from unnest(p_starts) s
    join atone.saga_key k on k.shard = s.key_shard and k.saga_name = s.definition and k.business_key = s.business_key
   where s.business_key <> '' and k.saga_id <> s.saga_id
$$;

-- Claims the keys of a batch in one fixed order, so that two writers can't lock each other out.
create function atone.claim_keys(p_starts atone.start_row[]) returns void
language sql volatile
as $$
  insert into atone.saga_key (shard, saga_shard, saga_id, saga_name, business_key, body)
  select s.key_shard, s.shard, s.saga_id, s.definition, s.business_key, s.body
    from unnest(p_starts) with ordinality as s
   where s.business_key <> ''
   order by s.key_shard, s.definition, s.business_key, s.ordinality
  on conflict do nothing
$$;

-- Why this backend may not commit this number. Returns when it may.
create function atone.check_writer(p_writer atone.writer, p_epoch bigint, p_number bigint) returns void
language plpgsql volatile
as $$
begin
  if p_writer.epoch <> p_epoch or p_writer.backend_pid <> pg_backend_pid() then
    raise exception 'epoch % of backend % is fenced: epoch % is held by node % through backend %',
      p_epoch, pg_backend_pid(), p_writer.epoch, p_writer.node, p_writer.backend_pid using errcode = 'AT001';
  end if;
  if p_writer.batch_number <> p_number - 1 then
    raise exception 'batch % does not follow batch %', p_number, p_writer.batch_number using errcode = 'AT002';
  end if;
end $$;

-- When this batch was committed before; null when it was not and may be. Locks nothing: what it lets pass meets the fence.
-- It is here so that a stale writer hears that it is fenced, not that its rows are already there.
create function atone.committed_at(p_epoch bigint, p_number bigint) returns timestamptz
language plpgsql volatile
as $$
declare
  v_writer atone.writer;
begin
  select * into v_writer from atone.writer where id = 1;
  if v_writer.epoch = p_epoch and v_writer.batch_number = p_number and p_number > 0 then return v_writer.committed_at; end if;
  perform atone.check_writer(v_writer, p_epoch, p_number);
  return null;
end $$;

-- The fence: the last thing of every transaction that writes. It locks the writer's row until the commit.
create function atone.fence(p_epoch bigint, p_number bigint) returns timestamptz
language plpgsql volatile
as $$
declare
  v_at timestamptz;
  v_writer atone.writer;
begin
  update atone.writer set batch_number = p_number, committed_at = clock_timestamp()
   where id = 1 and epoch = p_epoch and batch_number = p_number - 1 and backend_pid = pg_backend_pid()
  returning committed_at into v_at;
  if found then return v_at; end if;
  select * into v_writer from atone.writer where id = 1;
  perform atone.check_writer(v_writer, p_epoch, p_number);
  raise exception 'the writer''s row is missing' using errcode = 'AT001';
end $$;

-- Commits one batch. The first row returned has the database's time; one more for each start that lost its key.
-- A number that was committed before under this epoch is answered again and writes nothing.
-- Written for few statements a batch, since each costs its start-up: what a batch has nothing of is not run, keys are only looked at
-- where the caller says that a start has one (p_keyed), and the usual state of the writer's row is checked in line.
-- The writer's session switches hash, merge, bitmap and sequential scans off: each changed row is one descent of its key, and a
-- generic plan made while the table was small would get slower as it grows.
create function atone.commit_batch(
  p_epoch bigint, p_number bigint, p_keyed boolean, p_starts atone.start_row[], p_records atone.record_row[],
  p_changes atone.change_row[], p_compensations atone.compensation_row[], p_alerts atone.alert_row[], p_outputs atone.output_row[],
  p_actions atone.action_row[], p_taken bigint[])
returns table (at timestamptz, refused uuid, existing uuid, body bytea)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_writer atone.writer;
  v_at timestamptz;
  v_lost uuid[] := '{}';
  v_rows bigint;
begin
  select * into v_writer from atone.writer where id = 1;
  if v_writer.epoch <> p_epoch or v_writer.batch_number <> p_number - 1 or v_writer.backend_pid <> pg_backend_pid() then
    v_at := atone.committed_at(p_epoch, p_number);  -- raises where this backend may not commit the number
    if v_at is not null then
      return query select v_at, null::uuid, null::uuid, null::bytea;
      return query select v_at, l.refused, l.existing, l.body from atone.losers_of(p_starts) l;
      return;
    end if;
  end if;

  if cardinality(p_starts) > 0 then
    if p_keyed then
      perform atone.claim_keys(p_starts);
      v_lost := array(select l.refused from atone.losers_of(p_starts) l);
    end if;
    insert into atone.saga (shard, saga_id, definition, version, definition_hash, business_key, status, started_at, updated_at,
                            ended_at, cause, output, crashes, last_seq)
    select s.shard, s.saga_id, s.definition, s.version, s.definition_hash, s.business_key, s.status, s.started_at, s.updated_at,
           s.ended_at, s.cause, s.output, s.crashes, s.last_seq
      from unnest(p_starts) s where s.saga_id <> all (v_lost);
  end if;

  if cardinality(p_records) > 0 then
    insert into atone.journal (shard, saga_id, seq, cause, at, random, kind, operation, attempt, sureness, timer, http_status,
                               retry_after, format, step, note, actor, payload)
    select r.shard, r.saga_id, r.seq, r.cause, r.at, r.random, r.kind, r.operation, r.attempt, r.sureness, r.timer, r.http_status,
           r.retry_after, r.format, r.step, r.note, r.actor, r.payload
      from unnest(p_records) r where r.saga_id <> all (v_lost);
  end if;

  if cardinality(p_changes) > 0 then
    update atone.saga g
       set status = c.status, updated_at = c.updated_at, ended_at = c.ended_at, cause = c.cause, output = c.output,
           crashes = c.crashes, last_seq = c.last_seq
      from unnest(p_changes) c
     where g.shard = c.shard and g.saga_id = c.saga_id and c.saga_id <> all (v_lost);
    get diagnostics v_rows = row_count;
    if v_rows <> cardinality(p_changes)
       and v_rows <> (select count(*) from unnest(p_changes) c where c.saga_id <> all (v_lost)) then
      raise exception 'the batch changes a saga that is not there' using errcode = 'AT003';
    end if;
  end if;

  if cardinality(p_compensations) > 0 then
    insert into atone.compensation_log as l (shard, saga_id, trace_id, step, operation, status, attempts, last_error, created_at,
                                             updated_at)
    select c.shard, c.saga_id, c.trace_id, c.step, c.operation, c.status, c.attempts, c.last_error, c.created_at, c.updated_at
      from unnest(p_compensations) c where c.saga_id <> all (v_lost)
    on conflict (shard, saga_id, trace_id) do update
       set status = excluded.status, attempts = excluded.attempts, last_error = excluded.last_error,
           updated_at = excluded.updated_at
     where l.status <> 'success';
  end if;

  if cardinality(p_alerts) > 0 then
    insert into atone.alert (shard, saga_id, step, kind, level, text, raised_at)
    select a.shard, a.saga_id, a.step, a.kind, a.level, a.text, a.raised_at
      from unnest(p_alerts) a where a.saga_id <> all (v_lost)
    on conflict (shard, saga_id, step, kind) do update
       set level = excluded.level, text = excluded.text, raised_at = excluded.raised_at;
  end if;

  if cardinality(p_outputs) > 0 then
    insert into atone.last_output (shard, saga_name, step, key, written_by, at, output)
    select o.shard, o.saga_name, o.step, o.key, o.written_by, o.at, o.output
      from unnest(p_outputs) o where o.written_by <> all (v_lost)
    on conflict (shard, saga_name, step, key) do update
       set written_by = excluded.written_by, at = excluded.at, output = excluded.output;
  end if;

  if cardinality(p_actions) > 0 then
    insert into atone.operator_action (shard, saga_id, actor, action, step, note, outcome, at)
    select a.shard, a.saga_id, a.actor, a.action, a.step, a.note, a.outcome, a.at
      from unnest(p_actions) a where a.saga_id <> all (v_lost);
  end if;

  if cardinality(p_taken) > 0 then
    delete from atone.inbox i using unnest(p_taken) t where i.number = t;
  end if;

  update atone.writer set batch_number = p_number, committed_at = clock_timestamp()
   where id = 1 and epoch = p_epoch and batch_number = p_number - 1 and backend_pid = pg_backend_pid()
  returning committed_at into v_at;
  if not found then v_at := atone.fence(p_epoch, p_number); end if;  -- says why
  at := v_at;
  return next;
  if cardinality(v_lost) > 0 then
    return query select v_at, l.refused, l.existing, l.body from atone.losers_of(p_starts) l;
  end if;
end $$;

-- Makes this backend the writer under a new epoch. Returns who wrote before, so that its backend can be ended. Does not
-- wait: whoever holds the row (55P03) is between its fence and its commit, and is ended first.
create function atone.take_over(p_node text, out new_epoch bigint, out old_pid integer, out old_start timestamptz)
language plpgsql volatile
as $$
begin
  select w.backend_pid, w.backend_start into old_pid, old_start from atone.writer w where w.id = 1 for update nowait;
  update atone.writer
     set node = p_node, epoch = epoch + 1, batch_number = 0, backend_pid = pg_backend_pid(), taken_at = clock_timestamp(),
         backend_start = coalesce((select a.backend_start from pg_stat_activity a where a.pid = pg_backend_pid()), '-infinity')
   where id = 1
  returning epoch into new_epoch;
end $$;

-- After a lost connection: this backend goes on under the same epoch. From here on nothing that the old backend may still
-- be doing can commit, so `last_number` says for good what took effect.
create function atone.resume(p_epoch bigint, out last_number bigint, out old_pid integer, out old_start timestamptz)
language plpgsql volatile
as $$
declare
  v_epoch bigint;
begin
  select w.epoch, w.batch_number, w.backend_pid, w.backend_start into v_epoch, last_number, old_pid, old_start
    from atone.writer w where w.id = 1 for update;
  if v_epoch <> p_epoch then
    raise exception 'epoch % is fenced: the store is at epoch %', p_epoch, v_epoch using errcode = 'AT001';
  end if;
  update atone.writer
     set backend_pid = pg_backend_pid(),
         backend_start = coalesce((select a.backend_start from pg_stat_activity a where a.pid = pg_backend_pid()), '-infinity')
   where id = 1;
end $$;

-- Ends the backend of the writer before (told by pid and start time, so never another one's) and waits for it a while.
create function atone.end_backend(p_pid integer, p_start timestamptz, p_wait_ms bigint) returns boolean
language sql volatile
as $$
  select coalesce(bool_and(pg_terminate_backend(a.pid, p_wait_ms)), true)
    from pg_stat_activity a
   where a.pid = p_pid and a.backend_start = p_start and a.pid <> pg_backend_pid()
$$;
