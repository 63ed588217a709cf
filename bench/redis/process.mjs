// One of several processes that decide through one Redis: `node process.mjs <port> <what it decides as JSON>`. Whenever it is
// told a number it makes so many decisions, and tells the processor time of them in microseconds.
import { Redis } from 'ioredis';
import { overRedis } from '../contenders/over-redis.mjs';
import { VisitOrder } from '../ids.mjs';
import { decideEach } from './in-flight.mjs';

const [port = '', json = ''] = process.argv.slice(2);
const { contender, rate, ids, first, inFlight } = JSON.parse(json);
process.on('disconnect', () => process.exit());
const client = new Redis({ port: Number(port), host: '127.0.0.1', maxRetriesPerRequest: null });
const decide = await overRedis[contender]?.(client, rate);
if (decide === undefined) throw new Error(`No contender is named ${contender}.`);
const order = new VisitOrder(ids);
order.next(first);
process.on('message', async (decisions) => {
  const start = process.cpuUsage();
  await decideEach(decide, order.next(Number(decisions)), inFlight);
  const { user, system } = process.cpuUsage(start);
  process.send?.(user + system);
});
process.send?.('ready');
