import { tarballOf } from './pack-command.mjs';

const FRAMEWORKS = [
  { names: ['express'], peer: ' express', framework: 'Express' },
  { names: ['koa'], peer: ' koa', framework: 'Koa' },
  { names: ['fastify'], peer: ' fastify', framework: 'Fastify' },
  { names: ['drop-in', 'nestjs'], peer: '', framework: 'NestJS' },
  { names: ['fetch', 'hono'], peer: ' hono @hono/node-server', framework: 'Hono' },
  { names: ['fetch'], peer: '', framework: 'Request and Response' },
  { names: ['node'], peer: '', framework: 'node:http and node:http2' },
];
const ADDITIONS = [
  { name: 'redis', peer: ' ioredis', use: 'limits in Redis' },
  { name: 'host', peer: '', use: 'limits that the processes of a host share' },
  { name: 'postgres', peer: ' pg', use: 'limits in PostgreSQL' },
  { name: 'drop-in', peer: '', use: 'stores of other rate limiters' },
  { name: 'ai', peer: ' ai', use: 'budgets for language models' },
  { name: 'outgoing', peer: '', use: 'calls to an API that limits you' },
  { name: 'config', peer: '', use: 'limits in files' },
  { name: 'domains', peer: '', use: 'limits by domain name' },
  { name: 'opentelemetry', peer: ' @opentelemetry/api', use: 'metrics and traces' },
];

/**
 * What to paste into a shell in a project, to install the packed packages.
 *
 * @param {readonly string[]} paths the tarballs of all packages
 * @returns {string[]} a command for each framework, then one for each package to add
 */
export function installLines(paths) {
  const tarball = (/** @type {string} */ name) => quoted(tarballOf(`@sluice/${name}`, paths));
  return [
    ...FRAMEWORKS.flatMap(({ names, peer, framework }) => [
      `# ${framework}`,
      `npm install ${['core', ...names].map(tarball).join(' ')}${peer}`,
    ]),
    ...ADDITIONS.flatMap(({ name, peer, use }) => [
      `# add for ${use}`,
      `npm install ${['core', name].map(tarball).join(' ')}${peer}`,
    ]),
  ];
}

/**
 * Returns the shell lines that install the command `sluice`.
 *
 * @param {string} path the file of the command
 */
export function commandLines(path) {
  return [
    '# the command sluice, in all folders',
    `npm install --global ${quoted(path)}`,
    '# or once, without installing it',
    `npx --yes -p ${quoted(path)} sluice --help`,
  ];
}

function quoted(/** @type {string} */ path) {
  return /^[\w./:\\@+-]+$/.test(path) ? path : `"${path}"`;
}
