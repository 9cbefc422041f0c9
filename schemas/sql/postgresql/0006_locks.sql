-- The word for an event of kind 16: the saga's lock is its own.

create or replace function atone.word(p_of text, p_value smallint) returns text
language sql immutable strict parallel safe
as $$
  select coalesce((case p_of
    when 'status' then '{running,compensating,waiting,paused,completed,compensated,parked}'::text[]
    when 'operation' then '{do,compensate,try,confirm,cancel,prepare,commit,abort,fallback}'::text[]
    when 'kind' then '{started,step_succeeded,step_refused,attempt_failed,timer_fired,last_output_found,last_output_missing,late_answer,cancel_requested,pause_requested,resume_requested,operator_retry,operator_skip,operator_complete,parked,lock_granted}'::text[]
    when 'sureness' then '{not_done,unknown}'::text[]
    when 'timer' then '{retry,step_timeout,deadline}'::text[]
    when 'level' then '{info,warn,page}'::text[]
  end)[p_value], case p_value when 0 then '' else p_value::text end)
$$;
