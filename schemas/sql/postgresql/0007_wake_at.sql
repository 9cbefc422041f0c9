-- Sagas that wait long: what has nothing under way but timers says when the first of them is due, and is not read before.

-- Nothing is under way until then but the saga's own timers ('9999-12-31 23:59:59+00': none of those either, somebody has to ask). Null:
-- requests of it may be out, or its wait is a short one. Every change of the row says it anew.
alter table atone.saga add column wake_at timestamptz;

create type atone.rest_row as (shard smallint, saga_id uuid, wake_at timestamptz);
create type atone.change_row_7 as (
  shard smallint, saga_id uuid, status smallint, updated_at timestamptz, ended_at timestamptz, cause text, output bytea,
  crashes integer, last_seq integer, wake_at timestamptz);

create or replace view atone.sagas as
  select atone.id_text(saga_id) as id, definition, version, business_key, atone.word('status', status) as status, started_at,
         updated_at, ended_at, cause, atone.readable(output) as output, crashes, last_seq, shard, wake_at
    from atone.saga;

-- Commits one batch. The first row returned has the database's time; one more for each start that lost its key.
-- Starts in the shards p_foreign are another coordinator's to drive: a notice is left for it. Those in p_rests start, and rest at once.
-- A number that was committed before under this epoch is answered again and writes nothing.
-- Written for few statements a batch, since each costs its start-up: what a batch has nothing of is not run, keys are only looked at
-- where the caller says that a start has one (p_keyed), and the usual state of the writer's row is checked in line.
-- The writer's session switches hash, merge, bitmap and sequential scans off: each changed row is one descent of its key, and a
-- generic plan made while the table was small would get slower as it grows.
create function atone.commit_batch(
  p_writer smallint, p_epoch bigint, p_number bigint, p_keyed boolean, p_foreign smallint[], p_starts atone.start_row[], p_records atone.record_row[],
  p_changes atone.change_row_7[], p_compensations atone.compensation_row[], p_alerts atone.alert_row[], p_outputs atone.output_row[],
  p_actions atone.action_row[], p_taken bigint[], p_rests atone.rest_row[])
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
  select * into v_writer from atone.writer where id = p_writer;
  if v_writer.epoch <> p_epoch or v_writer.batch_number <> p_number - 1 or v_writer.backend_pid <> pg_backend_pid() then
    v_at := atone.committed_at(p_writer, p_epoch, p_number);  -- raises where this backend may not commit the number
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
    if cardinality(p_foreign) > 0 then
      insert into atone.inbox (kind, shard, saga_id)
      select 'arrival', s.shard, s.saga_id from unnest(p_starts) s where s.shard = any (p_foreign) and s.saga_id <> all (v_lost);
    end if;
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
           crashes = c.crashes, last_seq = c.last_seq, wake_at = c.wake_at
      from unnest(p_changes) c
     where g.shard = c.shard and g.saga_id = c.saga_id and c.saga_id <> all (v_lost);
    get diagnostics v_rows = row_count;
    if v_rows <> cardinality(p_changes)
       and v_rows <> (select count(*) from unnest(p_changes) c where c.saga_id <> all (v_lost)) then
      raise exception 'the batch changes a saga that is not there' using errcode = 'AT003';
    end if;
  end if;

  if cardinality(p_rests) > 0 then
    update atone.saga g set wake_at = r.wake_at
      from unnest(p_rests) r where g.shard = r.shard and g.saga_id = r.saga_id and r.saga_id <> all (v_lost);
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
   where id = p_writer and epoch = p_epoch and batch_number = p_number - 1 and backend_pid = pg_backend_pid()
  returning committed_at into v_at;
  if not found then v_at := atone.fence(p_writer, p_epoch, p_number); end if;  -- says why
  at := v_at;
  return next;
  if cardinality(v_lost) > 0 then
    return query select v_at, l.refused, l.existing, l.body from atone.losers_of(p_starts) l;
  end if;
end $$;

-- A coordinator of the version before this migration, still running, is fenced: it would leave wake_at as it finds it.
create or replace function atone.commit_batch(
  p_writer smallint, p_epoch bigint, p_number bigint, p_keyed boolean, p_foreign smallint[], p_starts atone.start_row[], p_records atone.record_row[],
  p_changes atone.change_row[], p_compensations atone.compensation_row[], p_alerts atone.alert_row[], p_outputs atone.output_row[],
  p_actions atone.action_row[], p_taken bigint[])
returns table (at timestamptz, refused uuid, existing uuid, body bytea)
language plpgsql
as $$ begin raise exception 'this database was migrated for a newer atone: use that' using errcode = 'AT001'; end $$;
