// The server of one run: `node server.mjs <contender> [core of Redis]`. Sends its port, and its processor time and the calls
// of its Redis whenever it is asked.
import { CONTENDERS, FIXED_FRAME, GRPC_JS, SLUICE } from './contenders.mjs';
import { fixedFrame } from './fixed-frame.mjs';
import { grpcJs } from './grpc-js.mjs';
import { sluice, sluiceWithLeases } from './sluice.mjs';

const [contender = '', redisCore] = process.argv.slice(2);
const { port, redisCalls } = await started();
process.on('message', () => void answer());
process.on('disconnect', () => process.exit());
process.send?.(port);

/** @returns {Promise<{ port: number, redisCalls: () => Promise<number> }>} */
async function started() {
  if (contender === SLUICE) return redisCore === undefined ? sluice() : sluiceWithLeases(Number(redisCore));
  if (contender === FIXED_FRAME) return { port: await fixedFrame(), redisCalls: noCalls };
  if (contender === GRPC_JS) return { port: await grpcJs(), redisCalls: noCalls };
  throw new Error(`There is no contender ${contender}. There are: ${CONTENDERS.join(', ')}.`);
}

async function noCalls() {
  return 0;
}

async function answer() {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system, redisCalls: await redisCalls() });
}
