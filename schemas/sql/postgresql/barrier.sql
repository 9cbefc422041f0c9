-- Atone's barrier for a participant that keeps its data in PostgreSQL: a table and two functions, callable from any
-- language. Each operation of a step (saga, step, op from the headers Atone-Saga, Atone-Step, Atone-Op) does its work at
-- most once. May be run again at any time.
--
-- Every request, in ONE local transaction:
--   1. select * from atone_barrier(saga, step, op) gives one row (verdict, status, answer, refused):
--        proceed     first time: go on
--        duplicate   answered before: commit or roll back, send status and answer again
--        empty       nothing to undo: commit, send status and answer (200 and {})
--        refused     already compensated (or already decided the other way): commit or roll back, send status and answer (409)
--   2. savepoint; your own statements. Where the answer is a final no: roll back to the savepoint.
--   3. select atone_answer(saga, step, op, refused, status, answer); commit; only now send the answer.
-- On any error: rollback; nothing happened. A duplicate never raises: under read committed it waits for the first and gets
-- its answer. Under repeatable read and serializable PostgreSQL raises 40001 there: roll back and repeat the whole
-- transaction, as with any other 40001 (also at commit) and with 40P01 and 55P03.
-- Rows may be deleted once no coordinator can ask again (longer than the longest saga and its key retention).

create table if not exists atone_barrier (
  saga       text not null,
  step       text not null,
  op         text not null,  -- do, compensate, try, confirm, cancel, prepare, commit, abort, fallback
  verdict    text not null,  -- proceed (no answer stored), done, no (refused by the business), empty, refused (tombstone)
  status     integer,        -- HTTP status that was sent
  answer     bytea,          -- body that was sent
  created_at timestamptz not null default clock_timestamp(),
  primary key (saga, step, op)
);

-- Claims the row of one operation; false when there is one. Waits for a transaction that has it and is still open.
create or replace function atone_barrier_claim(p_saga text, p_step text, p_op text, p_verdict text, p_status integer, p_answer bytea)
returns boolean
language plpgsql volatile
set search_path from current
as $$
begin
  insert into atone_barrier (saga, step, op, verdict, status, answer)
  values (p_saga, p_step, p_op, p_verdict, p_status, p_answer)
  on conflict do nothing;
  return found;
end $$;

-- What was stored for an operation. A business that committed without an answer counts as done, with an empty one.
create or replace function atone_barrier_stored(p_saga text, p_step text, p_op text)
returns table (verdict text, status integer, answer bytea, refused boolean)
language sql volatile
set search_path from current
as $$
  select case when b.verdict = 'refused' then 'refused' else 'duplicate' end, coalesce(b.status, 200),
         coalesce(b.answer, convert_to('{}', 'UTF8')), b.verdict in ('no', 'refused')
    from atone_barrier b where b.saga = p_saga and b.step = p_step and b.op = p_op
$$;

-- The barrier. An action and what undoes it meet on the action's row: the second to come waits there for the first, so a
-- compensation can't overtake an action that is still working. What settles a step (confirm, commit) and what undoes it
-- (cancel, abort) meet on the settling row. Rows are claimed in one order: action, settling, undoing.
create or replace function atone_barrier(saga text, step text, op text)
returns table (verdict text, status integer, answer bytea, refused boolean)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
  p_saga constant text := $1;
  p_step constant text := $2;
  p_op constant text := $3;
  v_nothing constant bytea := convert_to('{}', 'UTF8');
  v_too_late constant bytea := convert_to('{"error":"already compensated"}', 'UTF8');
  v_settled constant bytea := convert_to('{"error":"already confirmed"}', 'UTF8');
  v_action constant text := case p_op when 'compensate' then 'do' when 'cancel' then 'try' when 'abort' then 'prepare' end;
  v_settling constant text := case p_op when 'cancel' then 'confirm' when 'abort' then 'commit' end;
  v_undo_empty boolean;
begin
  if p_op is null or p_op not in ('do', 'compensate', 'try', 'confirm', 'cancel', 'prepare', 'commit', 'abort', 'fallback')
     or coalesce(p_saga, '') = '' or p_step is null then
    raise exception 'atone_barrier: saga %, step %, op %: expected a saga, a step and one of do, compensate, try, confirm, cancel, prepare, commit, abort, fallback',
      quote_nullable(p_saga), quote_nullable(p_step), quote_nullable(p_op) using errcode = 'invalid_parameter_value';
  end if;

  if v_action is null then
    if atone_barrier_claim(p_saga, p_step, p_op, 'proceed', null, null) then
      return query select 'proceed'::text, null::integer, null::bytea, false;
    else
      return query select * from atone_barrier_stored(p_saga, p_step, p_op);
    end if;
    return;
  end if;

  -- The action never came: from now on it must not. Or it came, and ended before this line.
  v_undo_empty := atone_barrier_claim(p_saga, p_step, v_action, 'refused', 409, v_too_late);
  if not v_undo_empty then
    v_undo_empty := not exists (select from atone_barrier b where b.saga = p_saga and b.step = p_step and b.op = v_action
                                                              and b.verdict in ('proceed', 'done'));
  end if;
  if v_settling is not null and not atone_barrier_claim(p_saga, p_step, v_settling, 'refused', 409, v_too_late)
     and exists (select from atone_barrier b where b.saga = p_saga and b.step = p_step and b.op = v_settling
                                              and b.verdict in ('proceed', 'done')) then
    return query select 'refused'::text, 409, v_settled, true;
    return;
  end if;
  if not atone_barrier_claim(p_saga, p_step, p_op, case when v_undo_empty then 'empty' else 'proceed' end,
                             case when v_undo_empty then 200 end, case when v_undo_empty then v_nothing end) then
    return query select * from atone_barrier_stored(p_saga, p_step, p_op);
  elsif v_undo_empty then
    return query select 'empty'::text, 200, v_nothing, false;
  else
    return query select 'proceed'::text, null::integer, null::bytea, false;
  end if;
end $$;

-- Stores what will be answered, before the commit. An answer is stored once and never replaced.
create or replace function atone_answer(saga text, step text, op text, refused boolean, status integer, answer bytea) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
  update atone_barrier b set verdict = case when $4 then 'no' else 'done' end, status = $5, answer = $6
   where b.saga = $1 and b.step = $2 and b.op = $3 and b.verdict = 'proceed';
  if not found then
    raise exception 'atone_answer: saga %, step %, op %: no operation is open here; call atone_barrier first, in the same transaction',
      quote_nullable($1), quote_nullable($2), quote_nullable($3) using errcode = 'object_not_in_prerequisite_state';
  end if;
end $$;
