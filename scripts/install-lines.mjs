import { basename } from 'node:path';

const FRAMEWORKS = { express: 'Express', koa: 'Koa', fastify: 'Fastify' };
const ADDITIONS = [
  { name: 'redis', peer: ' ioredis', use: 'limits in Redis' },
  { name: 'config', peer: '', use: 'limits in files' },
  { name: 'domains', peer: '', use: 'limits by domain name' },
  { name: 'cli', peer: '', use: 'the command sluice', needs: ['core', 'config', 'redis', 'domains'] },
];

/**
 * What to paste into a shell in a project, to install the packed packages.
 *
 * @param {readonly string[]} paths the tarballs of all packages
 * @returns {string[]} a command for each framework, then one for each package to add
 */
export function installLines(paths) {
  const tarball = (/** @type {string} */ name) => quoted(paths.find((path) => isOf(name, path)) ?? missing(name));
  return [
    ...Object.entries(FRAMEWORKS).flatMap(([name, framework]) => [
      `# ${framework}`,
      `npm install ${tarball('core')} ${tarball(name)} ${name}`,
    ]),
    ...ADDITIONS.flatMap(({ name, peer, use, needs = [] }) => [
      `# add for ${use}`,
      `npm install ${[...needs, name].map(tarball).join(' ')}${peer}`,
    ]),
  ];
}

function isOf(/** @type {string} */ name, /** @type {string} */ path) {
  return basename(path).startsWith(`sluice-${name}-`);
}

function quoted(/** @type {string} */ path) {
  return /^[\w./:\\@+-]+$/.test(path) ? path : `"${path}"`;
}

/** @returns {never} */
function missing(/** @type {string} */ name) {
  throw new Error(`There is no tarball of sluice-${name}. Run npm run tarballs again.`);
}
