-- What is left of finished sagas that were deleted after their retention. The keys themselves stay in atone_start_key.

-- Keys whose sagas are gone: they go in their turn, once the end of the saga lies back far enough. Ordered by saga, so that the oldest
-- are found without an index on time.
CREATE TABLE atone_kept_key (
  shard        INTEGER NOT NULL,
  saga_id      TEXT    NOT NULL,
  saga_name    TEXT    NOT NULL,
  business_key TEXT    NOT NULL,
  ended_at     INTEGER NOT NULL,
  PRIMARY KEY (shard, saga_id)
) WITHOUT ROWID;

-- How many sagas were deleted since the file was made, and the youngest of them: what is younger has never been deleted.
CREATE TABLE atone_deletion (
  shard  INTEGER NOT NULL PRIMARY KEY,
  sagas  INTEGER NOT NULL,
  newest TEXT    NOT NULL                       -- '' when none was
) WITHOUT ROWID;
INSERT INTO atone_deletion (shard, sagas, newest) VALUES (0, 0, '');
