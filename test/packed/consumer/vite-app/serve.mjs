// Loads limits.js as Vite does on a server, changes it several times, and prints how many tokens were taken at each time.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'vite';

const file = new URL('limits.js', import.meta.url);
const source = readFileSync(file, 'utf8');
const lines = [];
globalThis.log = (line) => lines.push(line);

const vite = await createServer({
  root: import.meta.dirname,
  configFile: false,
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  appType: 'custom',
  logLevel: 'error',
});

const taken = [];
const modules = new Set();
for (let edit = 0; edit < 4; edit++) {
  writeFileSync(file, `${source}\n// edit ${edit}\n`);
  vite.environments.ssr.moduleGraph.invalidateAll();
  const { limiter, limited, middleware, throttler } = await vite.ssrLoadModule('/limits.js');
  await limiter.ready();
  modules.add(limiter);
  const response = await limited(new Request('http://localhost/'));
  const { totalHits } = await throttler.increment('ann', 3_600_000, 100, 0, 'default');
  taken.push({
    shared: 100 - (await limiter.spend([{ limit: 'Shared', id: 'everyone' }])).remaining,
    fetch: 100 - Number(/r=(\d+)/.exec(response.headers.get('RateLimit'))[1]),
    express: typeof middleware,
    throttler: totalHits,
  });
}
const error = await reloadedWith(source.replaceAll('count: 100', 'count: 200'));
console.log(JSON.stringify({ evaluated: modules.size, taken, lines, error }));
process.exit();

/** Returns the code of the error of other numbers. */
async function reloadedWith(text) {
  writeFileSync(file, text);
  vite.environments.ssr.moduleGraph.invalidateAll();
  return vite.ssrLoadModule('/limits.js').then(
    () => undefined,
    ({ code }) => code,
  );
}
