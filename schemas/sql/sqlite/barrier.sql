-- Atone's barrier for a participant that keeps its data in SQLite, as statements for any language.
-- Each operation of a step (saga, step, op from the headers Atone-Saga, Atone-Step, Atone-Op) does its work at most once.
--
-- Every request, in ONE local transaction that begins with BEGIN IMMEDIATE:
--   1. `look` gives one row (verdict, stored, status, answer):
--        duplicate   answered before: ROLLBACK, send status and answer again
--        refused     the step is already undone (or already confirmed): ROLLBACK, send status and answer (409)
--        empty       there is nothing to undo: run `empty`, COMMIT, send 200 and {}
--        proceed     first time: go on
--   2. `claim`, then your own statements. Where they must be undone because the answer is a final no,
--      set a SAVEPOINT before them and roll back to it: the no itself is stored and must be committed.
--   3. `answer` with verdict 'done' (or 'no' for a refusal), the HTTP status and the body; COMMIT; only now send the answer.
-- On any error: ROLLBACK; nothing happened. On SQLITE_BUSY: repeat the whole transaction.
--
-- Parameters are named: :saga, :step, :op; for `answer` also :verdict, :status, :answer.
-- Rows may be deleted once no coordinator can ask again (longer than the longest saga and its key retention).

-- :name table
CREATE TABLE IF NOT EXISTS atone_barrier (
  saga       TEXT NOT NULL,
  step       TEXT NOT NULL,
  op         TEXT NOT NULL,  -- do, compensate, try, confirm, cancel, prepare, commit, abort, fallback
  verdict    TEXT NOT NULL,  -- proceed (no answer stored), done, no (refused by the business), empty, refused (tombstone)
  status     INTEGER,        -- HTTP status that was sent
  answer     BLOB,           -- body that was sent
  created_at TEXT NOT NULL,
  PRIMARY KEY (saga, step, op)
) WITHOUT ROWID;

-- :name look
SELECT CASE
         WHEN own.verdict = 'refused' THEN 'refused'
         WHEN own.verdict IS NOT NULL THEN 'duplicate'
         WHEN settled.verdict IN ('proceed', 'done') THEN 'refused'
         WHEN blocker.verdict IN ('proceed', 'done', 'empty') THEN 'refused'
         WHEN rule.undoes IS NOT NULL AND coalesce(action.verdict, 'refused') NOT IN ('proceed', 'done') THEN 'empty'
         ELSE 'proceed'
       END AS verdict,
       own.verdict AS stored,
       CASE WHEN own.verdict IS NOT NULL THEN coalesce(own.status, 200)
            WHEN settled.verdict IN ('proceed', 'done') OR blocker.verdict IN ('proceed', 'done', 'empty') THEN 409 END AS status,
       CASE WHEN own.verdict IS NOT NULL THEN coalesce(own.answer, '{}')
            WHEN settled.verdict IN ('proceed', 'done') THEN '{"error":"already confirmed"}'
            WHEN blocker.verdict IN ('proceed', 'done', 'empty') THEN '{"error":"already compensated"}' END AS answer
  FROM (SELECT :saga AS saga, :step AS step, :op AS op) AS asked
  LEFT JOIN (SELECT 'compensate' AS op, 'do' AS undoes, NULL AS settles, NULL AS blocked_by
             UNION ALL SELECT 'do', NULL, NULL, 'compensate'
             UNION ALL SELECT 'cancel', 'try', 'confirm', NULL
             UNION ALL SELECT 'try', NULL, NULL, 'cancel'
             UNION ALL SELECT 'confirm', NULL, NULL, 'cancel'
             UNION ALL SELECT 'abort', 'prepare', 'commit', NULL
             UNION ALL SELECT 'prepare', NULL, NULL, 'abort'
             UNION ALL SELECT 'commit', NULL, NULL, 'abort') AS rule ON rule.op = asked.op
  LEFT JOIN atone_barrier AS own     ON own.saga = asked.saga AND own.step = asked.step AND own.op = asked.op
  LEFT JOIN atone_barrier AS action  ON action.saga = asked.saga AND action.step = asked.step AND action.op = rule.undoes
  LEFT JOIN atone_barrier AS settled ON settled.saga = asked.saga AND settled.step = asked.step AND settled.op = rule.settles
  LEFT JOIN atone_barrier AS blocker ON blocker.saga = asked.saga AND blocker.step = asked.step AND blocker.op = rule.blocked_by;

-- :name claim
INSERT INTO atone_barrier (saga, step, op, verdict, created_at)
VALUES (:saga, :step, :op, 'proceed', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));

-- The compensation's own row, and a tombstone under the action's name on which a late action is refused.
-- :name empty
INSERT INTO atone_barrier (saga, step, op, verdict, status, answer, created_at)
VALUES (:saga, :step, :op, 'empty', 200, '{}', strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
       (:saga, :step, CASE :op WHEN 'compensate' THEN 'do' WHEN 'cancel' THEN 'try' WHEN 'abort' THEN 'prepare' END,
        'refused', 409, '{"error":"already compensated"}', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    ON CONFLICT (saga, step, op) DO NOTHING;

-- :name answer
UPDATE atone_barrier SET verdict = :verdict, status = :status, answer = :answer
 WHERE saga = :saga AND step = :step AND op = :op AND verdict = 'proceed';
