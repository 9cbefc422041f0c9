-- Several coordinators on one database: each has a row of atone.writer, and each virtual shard a lease row that names
-- its writer.
--
-- What always holds: a lease passes from writer W to another only under a lock of W's row, either by W itself
-- (atone.hand_over) or by whoever has fenced W. So a writer whose epoch still stands drives its shards alone, and one whose
-- epoch was raised can't commit any more. Which writers are gone is decided by those who watch them, each by its own clock
-- of durations: a lease is over when no progress of the writer was seen for the length of it.

drop function atone.commit_batch, atone.fence, atone.committed_at, atone.check_writer, atone.take_over, atone.resume;

-- Epochs are the database's, of writers and of leases: of two that drove a shard, the later has the higher one.
create sequence atone.epoch as bigint;
select setval('atone.epoch', greatest(1, max(epoch)), coalesce(max(epoch), 0) > 0) from atone.writer;

alter table atone.writer
  drop constraint writer_id_check,
  alter id drop default,
  add address text not null default '',          -- where other coordinators reach this one; empty: not at all
  add lease_ms integer not null default 2000,       -- for how long the others wait for a sign of life
  add beat bigint not null default 0,            -- signs of life beside commits
  add alive boolean not null default false;
delete from atone.writer where node = '';
alter table atone.writer add constraint writer_node unique (node);

-- Who drives the sagas of a shard; null: nobody now.
create table atone.lease (
  shard smallint primary key,
  writer smallint,
  epoch bigint not null default 0,       -- what the shard's requests carry: rises each time that it changes hands
  moved_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
insert into atone.lease (shard) select generate_series(0, l.shards - 1) from atone.layout l;

-- What callback tokens are signed with where no key is configured: the same on every node, and over restarts.
alter table atone.layout
  add token_key text not null default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');

-- What waits for a coordinator is for the one that drives the shard: of the request's number, or the shard named. An
-- arrival is a saga that was started, durably, by a coordinator that does not drive its shard.
alter table atone.inbox
  drop constraint inbox_kind_check,
  add constraint inbox_kind_check check (kind in ('start_request', 'arrival')),
  alter saga_name set default '', alter business_key set default '', alter input set default '',
  add shard smallint,
  add saga_id uuid;

-- Why this backend may not commit this number. Returns when it may.
create function atone.check_writer(p_row atone.writer, p_epoch bigint, p_number bigint) returns void
language plpgsql volatile
as $$
begin
  if p_row.epoch is distinct from p_epoch or p_row.backend_pid <> pg_backend_pid() then
    raise exception 'epoch % of backend % is fenced: node % is at epoch %, through backend %',
      p_epoch, pg_backend_pid(), p_row.node, p_row.epoch, p_row.backend_pid using errcode = 'AT001';
  end if;
  if p_row.batch_number <> p_number - 1 then
    raise exception 'batch % does not follow batch %', p_number, p_row.batch_number using errcode = 'AT002';
  end if;
end $$;

-- When this batch was committed before; null when it was not and may be. Locks nothing: what it lets pass meets the fence.
-- It is here so that a stale writer hears that it is fenced, not that its rows are already there.
create function atone.committed_at(p_writer smallint, p_epoch bigint, p_number bigint) returns timestamptz
language plpgsql volatile
as $$
declare
  v_writer atone.writer;
begin
  select * into v_writer from atone.writer where id = p_writer;
  if v_writer.epoch = p_epoch and v_writer.batch_number = p_number and p_number > 0 then return v_writer.committed_at; end if;
  perform atone.check_writer(v_writer, p_epoch, p_number);
  return null;
end $$;

-- The fence: the last thing of every transaction that writes. It locks the writer's row until the commit.
create function atone.fence(p_writer smallint, p_epoch bigint, p_number bigint) returns timestamptz
language plpgsql volatile
as $$
declare
  v_at timestamptz;
  v_writer atone.writer;
begin
  update atone.writer set batch_number = p_number, committed_at = clock_timestamp()
   where id = p_writer and epoch = p_epoch and batch_number = p_number - 1 and backend_pid = pg_backend_pid()
  returning committed_at into v_at;
  if found then return v_at; end if;
  select * into v_writer from atone.writer where id = p_writer;
  perform atone.check_writer(v_writer, p_epoch, p_number);
  raise exception 'the writer''s row is missing' using errcode = 'AT001';
end $$;

-- Commits one batch. The first row returned has the database's time; one more for each start that lost its key.
-- Starts in the shards p_foreign are another coordinator's to drive: a notice is left for it.
-- A number that was committed before under this epoch is answered again and writes nothing.
-- Written for few statements a batch, since each costs its start-up: what a batch has nothing of is not run, keys are only looked at
-- where the caller says that a start has one (p_keyed), and the usual state of the writer's row is checked in line.
-- The writer's session switches hash, merge, bitmap and sequential scans off: each changed row is one descent of its key, and a
-- generic plan made while the table was small would get slower as it grows.
create function atone.commit_batch(
  p_writer smallint, p_epoch bigint, p_number bigint, p_keyed boolean, p_foreign smallint[], p_starts atone.start_row[], p_records atone.record_row[],
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
   where id = p_writer and epoch = p_epoch and batch_number = p_number - 1 and backend_pid = pg_backend_pid()
  returning committed_at into v_at;
  if not found then v_at := atone.fence(p_writer, p_epoch, p_number); end if;  -- says why
  at := v_at;
  return next;
  if cardinality(v_lost) > 0 then
    return query select v_at, l.refused, l.existing, l.body from atone.losers_of(p_starts) l;
  end if;
end $$;

-- When this backend began, which tells it from a later one under the same process id.
create function atone.own_backend_start() returns timestamptz
language sql stable
as $$
  select coalesce((select a.backend_start from pg_stat_activity a where a.pid = pg_backend_pid()), '-infinity')
$$;

-- Makes this backend the node's writer under a new epoch; the leases that the node has stay its own. Returns who wrote before
-- for the node, so that its backend can be ended. Does not wait: whoever holds the row (55P03) is between its fence and its
-- commit, and is ended first.
create function atone.take_over(p_node text, out writer smallint, out new_epoch bigint, out old_pid integer, out old_start timestamptz)
language plpgsql volatile
as $$
begin
  if not exists (select from atone.writer w where w.node = p_node) then  -- nodes that left long ago make room
    delete from atone.writer w
     where not w.alive and greatest(w.taken_at, w.committed_at) < clock_timestamp() - interval '1 day'
       and not exists (select from atone.lease l where l.writer = w.id);
    insert into atone.writer (id, node)
    select n, p_node from generate_series(1, 32767) n where not exists (select from atone.writer w where w.id = n) order by n limit 1
    on conflict do nothing;
  end if;
  select w.id, w.backend_pid, w.backend_start into writer, old_pid, old_start
    from atone.writer w where w.node = p_node for update nowait;
  if not found then  -- another new node took the same number at this moment
    raise exception 'node % could not be entered; try again', p_node using errcode = 'serialization_failure';
  end if;
  update atone.writer w
     set epoch = nextval('atone.epoch'), batch_number = 0, beat = 0, alive = true, backend_pid = pg_backend_pid(),
         backend_start = atone.own_backend_start(), taken_at = clock_timestamp()
   where w.id = take_over.writer
  returning w.epoch into new_epoch;
  update atone.lease l set epoch = new_epoch where l.writer = take_over.writer;
end $$;

-- After a lost connection: this backend goes on under the same epoch. From here on nothing that the old backend may still
-- be doing can commit, so `last_number` says for good what took effect.
create function atone.resume(p_writer smallint, p_epoch bigint, out last_number bigint, out old_pid integer, out old_start timestamptz)
language plpgsql volatile
as $$
declare
  v_row atone.writer;
begin
  select * into v_row from atone.writer w where w.id = p_writer for update;
  if v_row.epoch is distinct from p_epoch or not v_row.alive then
    raise exception 'epoch % is fenced: node % is at epoch %', p_epoch, v_row.node, v_row.epoch using errcode = 'AT001';
  end if;
  last_number := v_row.batch_number;
  old_pid := v_row.backend_pid;
  old_start := v_row.backend_start;
  update atone.writer set backend_pid = pg_backend_pid(), backend_start = atone.own_backend_start() where id = p_writer;
end $$;

-- Locks the writer's row until the end of the transaction, and raises when its epoch is over: what makes a step of the
-- membership this writer's own.
create function atone.hold_writer(p_writer smallint, p_epoch bigint) returns void
language plpgsql volatile
as $$
begin
  update atone.writer set beat = beat + 1 where id = p_writer and epoch = p_epoch and alive;
  if not found then
    raise exception 'epoch % is fenced: writer % is not driven under it any more', p_epoch, p_writer using errcode = 'AT001';
  end if;
end $$;

-- A sign of life, and how everybody stands. A row with id null has the shards that nobody drives. Its commit needs no disk of its
-- own: a beat that a crash of the server loses is one that was not seen.
create function atone.renew(p_writer smallint, p_epoch bigint, p_address text, p_lease_ms integer)
returns table (id smallint, node text, address text, lease_ms integer, epoch bigint, progress bigint, alive boolean,
               shards smallint[], epochs bigint[], at timestamptz, definitions bigint)
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  perform set_config('synchronous_commit', 'off', true);
  update atone.writer w set beat = w.beat + 1, address = p_address, lease_ms = p_lease_ms
   where w.id = p_writer and w.epoch = p_epoch and w.alive;
  if not found then
    raise exception 'epoch % is fenced: writer % is not driven under it any more', p_epoch, p_writer using errcode = 'AT001';
  end if;
  return query
    with held as (select l.writer, array_agg(l.shard order by l.shard) as shards, array_agg(l.epoch order by l.shard) as epochs
                    from atone.lease l group by l.writer)
    select w.id, w.node, w.address, w.lease_ms, w.epoch, w.beat + w.batch_number, w.alive, coalesce(h.shards, '{}'),
           coalesce(h.epochs, '{}'), clock_timestamp(), (select count(*) from atone.definition)
      from atone.writer w left join held h on h.writer = w.id
    union all
    select null, '', '', 0, 0, 0, false, h.shards, h.epochs, clock_timestamp(), 0 from held h where h.writer is null;
end $$;

-- Fences a writer that shows no sign of life: `fenced` when it stood as it was seen, and is fenced now. Its leases become free with it.
-- Returns its backend, so that it can be ended: what that has not committed would be in the way. Does not wait for the row (55P03).
create function atone.fence_writer(p_writer smallint, p_epoch bigint, p_progress bigint, out fenced boolean, out old_pid integer,
                                   out old_start timestamptz)
language plpgsql volatile
as $$
begin
  select w.backend_pid, w.backend_start into old_pid, old_start from atone.writer w
    where w.id = p_writer and w.epoch = p_epoch and w.beat + w.batch_number = p_progress and w.alive for update nowait;
  fenced := found;
  if not fenced then return; end if;
  update atone.writer set epoch = nextval('atone.epoch'), alive = false, backend_pid = 0, backend_start = '-infinity' where id = p_writer;
  update atone.lease set writer = null, moved_at = clock_timestamp() where writer = p_writer;
  perform pg_notify('atone', 'leases');
end $$;

-- Takes up to p_most shards that nobody drives. Those of a writer that has left become free first, under the lock of its row: it
-- may come back at this moment.
create function atone.claim(p_writer smallint, p_epoch bigint, p_most integer) returns setof smallint
language plpgsql volatile
as $$
declare
  v_gone smallint;
begin
  perform atone.hold_writer(p_writer, p_epoch);
  for v_gone in select w.id from atone.writer w where not w.alive and exists (select from atone.lease l where l.writer = w.id)
                 order by w.id for update skip locked loop
    update atone.lease set writer = null where writer = v_gone;
  end loop;
  return query
    update atone.lease l set writer = p_writer, epoch = nextval('atone.epoch'), moved_at = clock_timestamp()
     where l.shard in (select f.shard from atone.lease f where f.writer is null order by f.shard limit p_most for update skip locked)
    returning l.shard;
end $$;

-- Gives shards of this writer to others, whose sagas it has let go of. One whose taker is not alive is nobody's. Only from the writer's
-- own backend: a call that was stuck on a lost connection must not come later.
create function atone.hand_over(p_writer smallint, p_epoch bigint, p_shards smallint[], p_to smallint[]) returns void
language plpgsql volatile
as $$
begin
  perform atone.hold_writer(p_writer, p_epoch);
  if not exists (select from atone.writer w where w.id = p_writer and w.backend_pid = pg_backend_pid()) then
    raise exception 'backend % is not the writer''s any more', pg_backend_pid() using errcode = 'AT001';
  end if;
  update atone.lease l
     set writer = (select w.id from atone.writer w where w.id = m.taker and w.alive), epoch = nextval('atone.epoch'), moved_at = clock_timestamp()
    from unnest(p_shards, p_to) as m (shard, taker)
   where l.shard = m.shard and l.writer = p_writer;
  perform pg_notify('atone', 'leases');
end $$;

-- This writer drives nothing any more; what leases it still has are free for whoever claims them.
create function atone.leave(p_writer smallint, p_epoch bigint) returns void
language plpgsql volatile
as $$
begin
  perform atone.hold_writer(p_writer, p_epoch);
  update atone.writer set alive = false, backend_pid = 0, backend_start = '-infinity' where id = p_writer;
  perform pg_notify('atone', 'leases');
end $$;

create view atone.nodes as
  select w.node, w.address, w.alive, w.epoch, (select count(*) from atone.lease l where l.writer = w.id) as shards, w.taken_at,
         w.committed_at
    from atone.writer w order by w.node;

-- A coordinator of the version before this migration, still running, is fenced: it knows no leases.
create function atone.commit_batch(
  p_epoch bigint, p_number bigint, p_keyed boolean, p_starts atone.start_row[], p_records atone.record_row[],
  p_changes atone.change_row[], p_compensations atone.compensation_row[], p_alerts atone.alert_row[], p_outputs atone.output_row[],
  p_actions atone.action_row[], p_taken bigint[])
returns table (at timestamptz, refused uuid, existing uuid, body bytea)
language plpgsql
as $$ begin raise exception 'this database is shared by several coordinators now: use a newer atone' using errcode = 'AT001'; end $$;

create function atone.resume(p_epoch bigint, out last_number bigint, out old_pid integer, out old_start timestamptz)
language plpgsql
as $$ begin raise exception 'this database is shared by several coordinators now: use a newer atone' using errcode = 'AT001'; end $$;
