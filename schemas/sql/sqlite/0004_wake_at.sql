-- Sagas that wait long. Nothing is under way until then but the saga's own timers (253402300799000000: none of those either, somebody has to
-- ask); NULL: requests of it may be out, or its wait is a short one. Every change of the row says it anew.
ALTER TABLE atone_saga ADD COLUMN wake_at INTEGER;
