// The bench's saga without an engine: what each step calls, and how a worker listens. Shared by all peers.
import http from 'node:http';

const agent = new http.Agent({keepAlive: true, noDelay: true, maxFreeSockets: 1024});

/** The participant said no: the saga is to be undone, and repeating the call would not help. */
export class Refused extends Error {}

/** One POST to a participant; resolves with its answer's JSON, rejects with Refused on 409 and with Error on anything else. */
export function post(url, body) {
  const text = JSON.stringify(body);
  const headers = {'content-type': 'application/json', 'content-length': Buffer.byteLength(text)};
  return new Promise((resolve, reject) => {
    const asked = http.request(url, {method: 'POST', agent, headers}, (answer) => {
      answer.setEncoding('utf8');
      let got = '';
      answer.on('data', (part) => (got += part));
      answer.on('error', reject);
      answer.on('end', () => settle(answer.statusCode, got, resolve, reject));
    });
    asked.on('error', reject);
    asked.end(text);
  });
}

function settle(status, got, resolve, reject) {
  if (status === 409) return reject(new Refused(JSON.parse(got).reason));
  if (status !== 200) return reject(new Error(`participant answered ${status}: ${got}`));
  return resolve(JSON.parse(got));
}

/**
 * The three steps, each with the call that does it and the one that undoes it: functions, so that every engine wraps them as it wraps
 * steps. `at` is [stock, payment, shipping] as URLs; the last step is refused when `refused`.
 */
export function stepsOf([stock, payment, shipping], {order, amount, customer}, refused) {
  const undo = {order, amount};
  return [
    step('reserve', () => post(`${stock}/reserve`, {order, amount}), 'release', () => post(`${stock}/release`, undo)),
    step('charge', () => post(`${payment}/charge`, {order, amount, customer}), 'refund', () => post(`${payment}/refund`, undo)),
    step('ship', () => post(`${shipping}/${refused ? 'refuse' : 'ship'}`, {order, customer}), 'cancel', () => post(`${shipping}/cancel`, undo)),
  ];
}

const step = (name, call, undoName, undoCall) => ({name, call, undoName, undoCall});

export const completed = ({order, amount}) => ({status: 'completed', output: {order, charged: amount}});
export const compensated = (why) => ({status: 'compensated', cause: why.message});

/** Listens on a free loopback port and says which, for the bench to read. */
export function announce(server) {
  server.listen(0, '127.0.0.1', 4096, () => console.log(`listening on 127.0.0.1:${server.address().port}`));
}
