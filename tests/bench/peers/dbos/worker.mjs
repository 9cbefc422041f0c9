// DBOS Transact: node worker.mjs DATABASE POOL EXECUTOR STOCK PAYMENT SHIPPING
// POST /done and POST /refused run a workflow and answer with its result.
import http from 'node:http';
import {DBOS} from '@dbos-inc/dbos-sdk';
import {Refused, announce, compensated, completed, stepsOf} from '../saga.mjs';

const [database, pool, executor, ...participants] = process.argv.slice(2);
const retried = {retriesAllowed: true, maxAttempts: 10, shouldRetry: (why) => !(why instanceof Refused)};

async function saga(input, refused) {
  const undo = [];
  try {
    for (const step of stepsOf(participants, input, refused)) {
      await DBOS.runStep(step.call, {...retried, name: step.name});
      undo.push(() => DBOS.runStep(step.undoCall, {...retried, name: step.undoName}));
    }
    return completed(input);
  } catch (why) {
    for (const each of undo.reverse()) await each();
    return compensated(why);
  }
}

const run = DBOS.registerWorkflow(saga, {name: 'saga'});

async function answer(request, response) {
  request.setEncoding('utf8');
  let got = '';
  for await (const part of request) got += part;
  const text = JSON.stringify(await run(JSON.parse(got), request.url === '/refused'));
  response.writeHead(200, {'content-type': 'application/json', 'content-length': Buffer.byteLength(text)});
  response.end(text);
}

function serve(request, response) {
  answer(request, response).catch((why) => response.writeHead(500).end(String(why)));
}

DBOS.setConfig({
  name: 'atone-bench',
  systemDatabaseUrl: database,
  systemDatabasePoolSize: Number(pool),
  executorID: executor,
  applicationVersion: '1',
  logLevel: 'warn',
});
await DBOS.launch();
const server = http.createServer({keepAliveTimeout: 60_000, noDelay: true}, serve);
announce(server);
