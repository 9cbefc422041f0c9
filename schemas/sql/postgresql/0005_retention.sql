-- Deleting finished sagas after their retention, each with all that is stored under it, in small transactions beside the writer's.
--
-- Finished sagas never change, so whoever deletes one does what any other would do: no order between deletion and commits has to be kept,
-- and the writer's row, which each commit locks, is not touched. That the shard's lease is the caller's keeps two coordinators from
-- working on the same rows; where a lease passes on at this very moment, rows that one of them has locked are passed over by the other.

-- Keys whose sagas are gone. They go in their turn, once the end of the saga lies back far enough. In the shard and the order of the
-- sagas: ids begin with their time, so the oldest are found by this key alone, without an index that every commit would pay for.
create table atone.kept_key (
  shard smallint not null,               -- the saga's
  key_shard smallint not null,           -- the key's, as in saga_key
  saga_id uuid not null,
  ended_at timestamptz not null,
  saga_name text not null,
  business_key text not null,
  primary key (shard, saga_id)
);

-- How many sagas were deleted since the tables were made, and the youngest of them: what is younger has never been deleted. Each
-- deletion is counted once, in the row of one of its shards.
create table atone.deletion (
  shard smallint primary key,
  sagas bigint not null,
  newest uuid not null,
  last_at timestamptz not null
) with (fillfactor = 50);

-- The lowest id that a saga started then can have.
create function atone.first_id_at(p_at timestamptz) returns uuid
language sql stable strict parallel safe
as $$
  select rpad(lpad(to_hex(greatest(0, floor(extract(epoch from p_at) * 1000)::bigint)), 12, '0'), 32, '0')::uuid
$$;

-- Raises when the writer drives nothing any more. Locks nothing: see above.
create function atone.must_drive(p_writer smallint, p_epoch bigint) returns void
language plpgsql stable
as $$
begin
  if not exists (select from atone.writer w where w.id = p_writer and w.epoch = p_epoch and w.alive) then
    raise exception 'epoch % is fenced: writer % is not driven under it any more', p_epoch, p_writer using errcode = 'AT001';
  end if;
end $$;

-- Deletes those of these sagas (p_shards, p_sagas) that have ended, are old enough, and lie in shards of this writer, and keeps their
-- keys: all of a saga, or nothing of it. Alerts and operators' actions lie in shards of their own (p_row_shards), keys too (p_key_shards).
-- Best called with sagas that were started one after another, whatever their shards: their rows lie side by side, and a page is written
-- once for many of them. Its commit needs no disk of its own: a deletion that a crash of the server loses is done again.
create function atone.delete_finished(
  p_writer smallint, p_epoch bigint, p_age interval, p_shards smallint[], p_sagas uuid[], p_row_shards smallint[],
  p_key_shards smallint[])
returns bigint
language plpgsql volatile
as $$
declare
  v_shards smallint[];
  v_sagas uuid[];
  v_row_shards smallint[];
  v_key_shards smallint[];
begin
  perform atone.must_drive(p_writer, p_epoch);
  perform set_config('synchronous_commit', 'off', true);
  select array_agg(o.shard), array_agg(o.saga_id), array_agg(o.row_shard), array_agg(o.key_shard)
    into v_shards, v_sagas, v_row_shards, v_key_shards
    from (select g.shard, g.saga_id, r.row_shard, r.key_shard
            from unnest(p_shards, p_sagas, p_row_shards, p_key_shards) as r (shard, saga_id, row_shard, key_shard)
            join atone.lease l on l.shard = r.shard and l.writer = p_writer
            join atone.saga g on g.shard = r.shard and g.saga_id = r.saga_id
           where g.status in (5, 6) and g.ended_at < clock_timestamp() - p_age
           order by g.saga_id
             for update of g skip locked) o;
  if v_sagas is null then return 0; end if;
  insert into atone.kept_key (shard, key_shard, saga_id, ended_at, saga_name, business_key)
  select g.shard, r.key_shard, g.saga_id, g.ended_at, g.definition, g.business_key
    from unnest(v_shards, v_sagas, v_key_shards) as r (shard, saga_id, key_shard)
    join atone.saga g on g.shard = r.shard and g.saga_id = r.saga_id
   where g.business_key <> ''
  on conflict do nothing;
  delete from atone.journal j using unnest(v_shards, v_sagas) as r (shard, saga_id) where j.shard = r.shard and j.saga_id = r.saga_id;
  delete from atone.compensation_log c using unnest(v_shards, v_sagas) as r (shard, saga_id)
   where c.shard = r.shard and c.saga_id = r.saga_id;
  delete from atone.alert a using unnest(v_row_shards, v_sagas) as r (shard, saga_id) where a.shard = r.shard and a.saga_id = r.saga_id;
  delete from atone.operator_action a using unnest(v_row_shards, v_sagas) as r (shard, saga_id)
   where a.shard = r.shard and a.saga_id = r.saga_id;
  delete from atone.saga g using unnest(v_shards, v_sagas) as r (shard, saga_id) where g.shard = r.shard and g.saga_id = r.saga_id;
  insert into atone.deletion as d (shard, sagas, newest, last_at)
  values (v_shards[1], cardinality(v_sagas), v_sagas[cardinality(v_sagas)], clock_timestamp())
  on conflict (shard) do update
     set sagas = d.sagas + excluded.sagas, newest = greatest(d.newest, excluded.newest), last_at = excluded.last_at;
  return cardinality(v_sagas);
end $$;

-- Deletes keys whose sagas are gone and ended that long ago: up to p_most, of p_look rows behind p_after. `more`: there may be others.
create function atone.expire_keys(
  p_writer smallint, p_epoch bigint, p_shard smallint, p_age interval, p_after uuid, p_look integer, p_most integer,
  out deleted bigint, out last uuid, out more boolean, out kept boolean)
language plpgsql volatile
as $$
declare
  v_end uuid := atone.first_id_at(clock_timestamp() - p_age);
  v_row atone.kept_key;
begin
  deleted := 0;
  last := p_after;
  more := false;
  kept := false;
  perform atone.must_drive(p_writer, p_epoch);
  if not exists (select from atone.lease l where l.shard = p_shard and l.writer = p_writer) then return; end if;
  perform set_config('synchronous_commit', 'off', true);
  for v_row in select k.* from atone.kept_key k
                where k.shard = p_shard and k.saga_id > p_after and k.saga_id < v_end order by k.saga_id limit p_look loop
    last := v_row.saga_id;
    if v_row.ended_at >= clock_timestamp() - p_age then
      kept := true;
      continue;
    end if;
    delete from atone.saga_key s
     where s.shard = v_row.key_shard and s.saga_name = v_row.saga_name and s.business_key = v_row.business_key and s.saga_id = v_row.saga_id;
    delete from atone.kept_key k where k.shard = p_shard and k.saga_id = v_row.saga_id;
    deleted := deleted + 1;
    exit when deleted >= p_most;
  end loop;
  more := exists (select from atone.kept_key k where k.shard = p_shard and k.saga_id > last and k.saga_id < v_end);
end $$;

-- Claims the keys of a batch in one fixed order, so that two writers can't lock each other out. Keys can go now: one that this batch
-- lost is held until its commit, so that the answer which names its saga (losers_of) stands, and one that went at this moment is claimed
-- after all.
create or replace function atone.claim_keys(p_starts atone.start_row[]) returns void
language plpgsql volatile
as $$
declare
  v_keyed bigint := (select count(*) from unnest(p_starts) s where s.business_key <> '');
  v_own bigint;
  v_others bigint;
begin
  loop
    insert into atone.saga_key (shard, saga_shard, saga_id, saga_name, business_key, body)
    select s.key_shard, s.shard, s.saga_id, s.definition, s.business_key, s.body
      from unnest(p_starts) with ordinality as s
     where s.business_key <> ''
     order by s.key_shard, s.definition, s.business_key, s.ordinality
    on conflict do nothing;
    get diagnostics v_own = row_count;
    exit when v_own = v_keyed;
    perform from unnest(p_starts) s
       join atone.saga_key k on k.shard = s.key_shard and k.saga_name = s.definition and k.business_key = s.business_key
      where s.business_key <> '' and k.saga_id <> s.saga_id
        for key share of k;
    get diagnostics v_others = row_count;
    select count(*) into v_own
      from unnest(p_starts) s
      join atone.saga_key k on k.shard = s.key_shard and k.saga_name = s.definition and k.business_key = s.business_key
     where s.business_key <> '' and k.saga_id = s.saga_id;
    exit when v_own + v_others = v_keyed;
  end loop;
end $$;

-- Starts that lost their key to another saga. One whose key nobody has any more lost it in a batch that was committed before, and the
-- key has gone since: no saga can be named then.
create or replace function atone.losers_of(p_starts atone.start_row[]) returns table (refused uuid, existing uuid, body bytea)
language sql stable
as $$
  select s.saga_id, coalesce(k.saga_id, '00000000-0000-0000-0000-000000000000'), coalesce(k.body, decode(repeat('00', 32), 'hex'))
    from unnest(p_starts) s
    left join atone.saga_key k on k.shard = s.key_shard and k.saga_name = s.definition and k.business_key = s.business_key
   where s.business_key <> '' and k.saga_id is distinct from s.saga_id
$$;
