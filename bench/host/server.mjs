// A process that serves what the contenders of the part `host` ask for.
import { hostStore } from '@sluice/host';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { BATCH_ANSWER_BYTES, BATCH_BYTES, HEADER_BYTES } from './bytes.mjs';

const [socket = ''] = process.argv.slice(2);
const store = hostStore({ socket, log: false });
await store.ready();
const bare = createServer(answerBytes).listen(`${socket}.bare`);
await once(bare, 'listening');
process.send?.('ready');
process.on('disconnect', () => process.exit());

/**
 * Answers each frame with as many bytes as Sluice would. It reads only the length.
 *
 * @param {import('node:net').Socket} connection
 */
function answerBytes(connection) {
  let count = 0;
  let left = 0;
  connection.on('data', (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (left === 0) {
        count = chunk.readUInt32LE(at);
        left = HEADER_BYTES + count * BATCH_BYTES;
      }
      const taken = Math.min(left, chunk.length - at);
      at += taken;
      left -= taken;
      if (left === 0) connection.write(Buffer.allocUnsafe(HEADER_BYTES + count * BATCH_ANSWER_BYTES));
    }
  });
}
