const express = require('express');

/**
 * What import and require of an entry point give that is not the same.
 *
 * @param {string} name
 */
async function differencesOf(name) {
  const required = require(name);
  const imported = await import(name);
  const exported = new Set([...Object.keys(required), ...Object.keys(imported)]);
  if (exported.size === 0) return [`${name} exports nothing`];
  return [...exported].filter((key) => required[key] !== imported[key]).map((key) => `${name}: ${key}`);
}

/**
 * What an adapter makes of a limiter and of an error of a core.
 *
 * @param {typeof import('@sluice/express')} adapter
 * @param {typeof import('@sluice/core')} core
 */
async function together({ rateLimit }, { accountId, createLimiter, SluiceError }) {
  const key = accountId(() => 'one');
  const limiter = createLimiter({ limits: { Requests: { key, count: 1, period: '1m' } } });
  const app = express();
  app.use(rateLimit({ limiter }));
  app.get('/', (_req, res) => res.end('hello'));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const { status } = await fetch(`http://127.0.0.1:${port}/`);
  server.close();
  server.closeAllConnections();
  try {
    return rateLimit({ limiter, limits: [] });
  } catch (error) {
    return { status, error: error instanceof SluiceError };
  }
}

/**
 * Whether an error of the entry for stores is one of core, in each way of loading both.
 *
 * @param {typeof import('@sluice/core/store')} store
 * @param {typeof import('@sluice/core')} core
 */
function isOneClass({ StalePeriodError }, { SluiceError }) {
  return new StalePeriodError([0, 1, 2], 3) instanceof SluiceError;
}

async function main() {
  const different = [];
  for (const name of process.argv.slice(2)) different.push(...(await differencesOf(name)));
  const requiredExpress = await together(require('@sluice/express'), await import('@sluice/core'));
  const importedExpress = await together(await import('@sluice/express'), require('@sluice/core'));
  const storeErrors = [
    isOneClass(require('@sluice/core/store'), await import('@sluice/core')),
    isOneClass(await import('@sluice/core/store'), require('@sluice/core')),
  ];
  console.log(JSON.stringify({ different, requiredExpress, importedExpress, storeErrors }));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
