// A server that profiles itself: `node server.mjs <framework> <allowed|denied> <requests>`. Tells its port, and when it
// has answered so many requests twice its profile of the second time.
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { frameworkNamed } from '../http/frameworks.mjs';
import { NUMBERS } from '../http/numbers.mjs';
import { profileOf } from './profile.mjs';

const [name = '', outcome = '', requests = ''] = process.argv.slice(2);
const numbers = NUMBERS[outcome];
if (numbers === undefined) throw new Error(`There are no numbers for ${outcome}.`);
const framework = await frameworkNamed(name);
const server = await framework.server('Sluice', numbers);
// The load's connections stay open when it is over.
server.keepAliveTimeout = 3_600_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
let answered = 0;
server.on('request', () => answered++);
process.on('disconnect', () => process.exit());
process.send?.(/** @type {import('node:net').AddressInfo} */ (server.address()).port);

let before = 0;
const profile = await profileOf(async () => {
  before = answered;
  // oxlint-disable-next-line no-await-in-loop
  while (answered < before + Number(requests)) await wait(10);
});
process.send?.({ profile, requests: answered - before });
