// Restate: node worker.mjs SERVICE STOCK PAYMENT SHIPPING
// A service with two handlers, `done` and `refused`; the server calls it over HTTP/2 and keeps its journal.
import http2 from 'node:http2';
import * as restate from '@restatedev/restate-sdk';
import {Refused, announce, compensated, completed, stepsOf} from '../saga.mjs';

const [name, ...participants] = process.argv.slice(2);

/** A refusal is terminal; all else is retried by Restate as it likes. */
async function once(call) {
  try {
    return await call();
  } catch (why) {
    throw why instanceof Refused ? new restate.TerminalError(why.message, {errorCode: 409}) : why;
  }
}

async function saga(context, input, refused) {
  const undo = [];
  try {
    for (const step of stepsOf(participants, input, refused)) {
      await context.run(step.name, () => once(step.call));
      undo.push(() => context.run(step.undoName, () => once(step.undoCall)));
    }
    return completed(input);
  } catch (why) {
    if (!(why instanceof restate.TerminalError)) throw why;
    for (const each of undo.reverse()) await each();
    return compensated(why);
  }
}

const service = restate.service({
  name,
  handlers: {
    done: (context, input) => saga(context, input, false),
    refused: (context, input) => saga(context, input, true),
  },
});
announce(http2.createServer(restate.createEndpointHandler({services: [service]})));
