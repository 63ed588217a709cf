import { accountId, createLimiter } from '@sluice/core';
import { hostStore } from '@sluice/host';
import { createConnection } from 'node:net';
import { once } from 'node:events';
import { BATCH_ANSWER_BYTES, BATCH_BYTES, HEADER_BYTES } from '../host/bytes.mjs';

const RATE = { burst: 1_000_000, count: 1, period: 60_000 };

/**
 * Decides in another process of this host, which serves on a socket.
 *
 * @typedef {((id: string) => Promise<unknown>) & { verify?: () => void }} Decide Its `verify` throws when another than
 *   that process has decided.
 * @type {Readonly<Record<string, (socket: string) => Promise<Decide>>>}
 */
export const overHost = { Sluice: sluice, 'a bare socket': bareSocket };

/** @param {string} socket */
async function sluice(socket) {
  const store = hostStore({ socket, log: false });
  await store.ready();
  // With the default of 50 ms the fallback would decide while the machine is busy with something else.
  const failure = { deadlineMs: 5000 };
  const limiter = createLimiter({ limits: { First: { key: accountId(), ...RATE } }, store, failure });
  const verify = () => {
    const { decidedByPolicy, lastFailure } = limiter.status();
    if (decidedByPolicy > 0) throw new Error('The other process did not decide.', { cause: lastFailure?.cause });
  };
  const decide = (/** @type {string} */ id) => limiter.spend([{ limit: 'First', id }]);
  return Object.assign(decide, { verify });
}

/**
 * Sends as many bytes as Sluice does, in the same batches, to a process that reads none of them and answers with as many
 * bytes: what Node and the system need for it alone. Nothing is decided.
 *
 * @param {string} socket
 */
async function bareSocket(socket) {
  const connection = createConnection({ path: `${socket}.bare` });
  await once(connection, 'connect');
  /** @type {(() => void)[]} */
  let waiting = [];
  /** @type {(() => void)[][]} */
  const sent = [];
  let received = 0;
  const send = () => {
    const bytes = Buffer.allocUnsafe(HEADER_BYTES + waiting.length * BATCH_BYTES);
    bytes.writeUInt32LE(waiting.length);
    sent.push(waiting);
    waiting = [];
    connection.write(bytes);
  };
  connection.on('data', (chunk) => {
    received += chunk.length;
    for (let first = sent[0]; first !== undefined; first = sent[0]) {
      const bytes = HEADER_BYTES + first.length * BATCH_ANSWER_BYTES;
      if (received < bytes) return;
      received -= bytes;
      sent.shift();
      for (const answered of first) answered();
    }
  });
  return () =>
    new Promise((/** @type {(answer: void) => void} */ answered) => {
      if (waiting.length === 0) setImmediate(send);
      waiting.push(answered);
    });
}
