-- The counts in atone_saga_ended are kept by the writer, once a batch, instead of by triggers, once a saga. Not only for the steps saved: a
-- statement with a trigger and a constraint that may fail makes SQLite copy every page it touches into a statement journal first.
-- That was two fifths of the writer's time. What the triggers have counted so far stays right.
DROP TRIGGER atone_saga_started_ended;
DROP TRIGGER atone_saga_ends;
DROP TRIGGER atone_saga_leaves_end;
-- atone_saga_removed stays: nothing in Atone deletes a saga, but a person may.
