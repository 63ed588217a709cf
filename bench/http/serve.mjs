// The server of one run: `node serve.mjs <framework> <limiter> <allowed|denied>`. Tells its port, and its processor time
// whenever it is asked.
import { once } from 'node:events';
import { frameworkNamed } from './frameworks.mjs';
import { NUMBERS } from './numbers.mjs';

const [name = '', limiter = '', outcome = ''] = process.argv.slice(2);
const numbers = NUMBERS[outcome];
if (numbers === undefined) throw new Error(`There are no numbers for ${outcome}.`);
const framework = await frameworkNamed(name);
const server = await framework.server(limiter, numbers);
// Between its turns it is idle for longer than Node keeps a connection. (With 0 it would do less for each request.)
server.keepAliveTimeout = 3_600_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', () => process.send?.(cpuMicros()));
process.on('disconnect', () => process.exit());
process.send?.(/** @type {import('node:net').AddressInfo} */ (server.address()).port);

function cpuMicros() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
