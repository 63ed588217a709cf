// The server of one run: `node server.mjs <contender> [core of Redis]`. Sends its port, and its processor time and the calls
// of its Redis whenever it is asked.
import { CONTENDERS, FIXED_FRAME, GRPC_JS, SLUICE } from './contenders.mjs';
import { fixedFrame } from './fixed-frame.mjs';
import { grpcJs } from './grpc-js.mjs';
import { sluice, sluiceWithLeases } from './sluice.mjs';

const [contender = '', redisCore] = process.argv.slice(2);
const { port, inRedis } = await started();
process.on('message', () => void answer());
process.on('disconnect', () => process.exit());
process.send?.(port);

/** @returns {Promise<{ port: number, inRedis?: () => Promise<{ redisCalls: number, redisWrites: number }> }>} */
async function started() {
  if (contender === SLUICE) return redisCore === undefined ? sluice() : sluiceWithLeases(Number(redisCore));
  if (contender === FIXED_FRAME) return { port: await fixedFrame() };
  if (contender === GRPC_JS) return { port: await grpcJs() };
  throw new Error(`There is no contender ${contender}. There are: ${CONTENDERS.join(', ')}.`);
}

async function answer() {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system, redisCalls: 0, redisWrites: 0, ...(await inRedis?.()) });
}
