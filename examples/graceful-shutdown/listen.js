import { once } from 'node:events';

/** @param {import('node:http').Server} server */
export async function listen(server) {
  server.listen(Number(process.env.PORT ?? 3000));
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`Listening on http://127.0.0.1:${port}`);
}
