-- For people (views with words and readable ids) and for other programs in this database (atone.start).

create function atone.id_text(p_id uuid) returns text
language sql immutable strict parallel safe
as $$
  select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + substring(b.bits from 1 + 5 * g for 5)::integer, 1), '' order by g)
    from (select (B'00' || ('x' || replace(p_id::text, '-', ''))::bit(128)) as bits) b, generate_series(0, 25) g
$$;

create function atone.id_of(p_text text) returns uuid
language sql immutable strict parallel safe
as $$
  select (select string_agg(lpad(to_hex(substring(b.bits from 3 + 8 * g for 8)::bit(8)::integer), 2, '0'), '' order by g)
            from generate_series(0, 15) g)::uuid
    from (select string_agg((position(substr(upper(p_text), i, 1) in '0123456789ABCDEFGHJKMNPQRSTVWXYZ') - 1)::bit(5)::text, ''
                            order by i)::varbit as bits
            from generate_series(1, 26) i) b
$$;

create function atone.word(p_of text, p_value smallint) returns text
language sql immutable strict parallel safe
as $$
  select coalesce((case p_of
    when 'status' then '{running,compensating,waiting,paused,completed,compensated,parked}'::text[]
    when 'operation' then '{do,compensate,try,confirm,cancel,prepare,commit,abort,fallback}'::text[]
    when 'kind' then '{started,step_succeeded,step_refused,attempt_failed,timer_fired,last_output_found,last_output_missing,late_answer,cancel_requested,pause_requested,resume_requested,operator_retry,operator_skip,operator_complete,parked}'::text[]
    when 'sureness' then '{not_done,unknown}'::text[]
    when 'timer' then '{retry,step_timeout,deadline}'::text[]
    when 'level' then '{info,warn,page}'::text[]
  end)[p_value], case p_value when 0 then '' else p_value::text end)
$$;

-- Bytes for reading in a terminal: as text where they are UTF-8, else in hex.
create function atone.readable(p_bytes bytea) returns text
language plpgsql immutable strict parallel safe
as $$
begin
  return convert_from(p_bytes, 'UTF8');
exception when others then
  return p_bytes::text;
end $$;

create view atone.sagas as
  select atone.id_text(saga_id) as id, definition, version, business_key, atone.word('status', status) as status, started_at,
         updated_at, ended_at, cause, atone.readable(output) as output, crashes, last_seq, shard
    from atone.saga;

create view atone.history as
  select atone.id_text(saga_id) as id, seq, cause, at, atone.word('kind', kind) as kind, step,
         atone.word('operation', operation) as operation, attempt, atone.word('sureness', sureness) as sureness,
         atone.word('timer', timer) as timer, http_status, note, actor, atone.readable(payload) as payload, shard
    from atone.journal;

create view atone.alerts as
  select atone.id_text(saga_id) as id, step, kind, atone.word('level', level) as level, text, raised_at from atone.alert;

-- What waits for the coordinator: requests to start a saga, written by other programs in their own transactions.
create table atone.inbox (
  number bigint generated always as identity primary key,
  kind text not null default 'start_request' check (kind = 'start_request'),
  saga_name text not null,
  business_key text not null,
  input bytea not null,
  requested_at timestamptz not null default clock_timestamp()
);

-- Starts a saga from inside the caller's own transaction: it starts if, and only if, that transaction commits. The key
-- names it (an order number …): asking twice under one key starts one saga. Returns the request's number.
create function atone.start(p_saga text, p_key text, p_input text) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_number bigint;
begin
  if coalesce(p_saga, '') = '' or coalesce(p_key, '') = '' then
    raise exception 'atone.start needs the name of a saga and a key; found saga %, key %', quote_nullable(p_saga), quote_nullable(p_key)
      using errcode = 'invalid_parameter_value';
  end if;
  perform p_input::json;  -- refused here, where the caller sees it; kept as it came
  insert into atone.inbox (saga_name, business_key, input) values (p_saga, p_key, convert_to(p_input, 'UTF8'))
  returning number into v_number;
  return v_number;
end $$;
