// `npm run trial -- image` follows deploy/Dockerfile in chroots of a Debian that debootstrap makes, where Docker cannot run: each COPY
// and RUN in its stage, then the entry point as the user of the image, with a root that cannot be written. It needs root on
// Linux, and apt's own archives. Node comes from npm, of the major version that the Dockerfile names, to where its image has it.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { aptInstall } from '../../../scripts/apt.mjs';
import { packCommand } from '../../../scripts/pack-command.mjs';
import { packedOnce } from '../../../scripts/pack.mjs';

/** As Docker sets it. */
const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Where a proxy is that the image trusts. */
const PRIVATE = '10.0.0.1';
const REQUEST = `const headers = { 'x-forwarded-for': '203.0.113.7' };
const answer = await fetch('http://${PRIVATE}:9090/check/api', { headers });
console.log(answer.status, await answer.text(), answer.headers.get('ratelimit'));`;

const deploy = fileURLToPath(new URL('../../../deploy/', import.meta.url));

/** What the instructions of the last stage say of its process. */
interface Settings {
  readonly env: Record<string, string>;
  folder: string;
  user: string;
  healthCheck: readonly string[];
  entryPoint: readonly string[];
  words: readonly string[];
}

if (process.platform !== 'linux' || process.getuid?.() !== 0) {
  console.error('`npm run trial -- image` must be root on Linux, to make chroots. Try it in a virtual machine.');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-image-'));
try {
  const context = join(folder, 'tarballs');
  mkdirSync(context);
  packCommand(await packedOnce(), context);
  const { root, settings } = await built(context);
  await served(root, settings);
  console.log('The image is built and serves.');
} finally {
  rmSync(folder, { recursive: true });
}

/** Follows the lines of the Dockerfile. Resolves to the root folder of the last stage. */
async function built(context: string): Promise<{ root: string; settings: Settings }> {
  const stages = new Map<string, string>();
  let root = '';
  let settings = newSettings();
  for (const line of linesOf(join(deploy, 'Dockerfile'))) {
    const [instruction = '', ...words] = line.split(' ');
    const text = line.slice(instruction.length + 1);
    console.log(`${instruction} ${text}`);
    if (instruction === 'FROM') {
      root = join(folder, `stage${stages.size}`);
      settings = newSettings();
      stages.set(words[2] ?? 'last', root);
      // oxlint-disable-next-line no-await-in-loop -- one line after the other
      await makeBase(root, words[0]!);
    } else if (instruction === 'COPY') {
      const [first = '', ...paths] = words[0]?.startsWith('--from=') ? words : ['', ...words];
      const source = first === '' ? context : stages.get(first.slice('--from='.length))!;
      cpSync(join(source, paths[0]!), join(root, paths[1]!), { recursive: true, verbatimSymlinks: true });
    } else if (instruction === 'RUN') {
      run('chroot', [root, 'env', '-i', PATH, ...variables(settings), 'sh', '-c', text]);
    } else if (instruction === 'ENV') {
      for (const word of words) settings.env[word.slice(0, word.indexOf('='))] = word.slice(word.indexOf('=') + 1);
    } else if (instruction === 'WORKDIR') {
      settings.folder = text;
      mkdirSync(join(root, text), { recursive: true });
    } else if (instruction === 'USER') settings.user = text;
    else if (instruction === 'HEALTHCHECK') settings.healthCheck = listed(text.slice('CMD '.length));
    else if (instruction === 'ENTRYPOINT') settings.entryPoint = listed(text);
    else if (instruction === 'CMD') settings.words = listed(text);
    else if (instruction !== 'EXPOSE') throw new Error(`This trial knows no instruction ${instruction}.`);
  }
  return { root, settings };
}

/**
 * Serves the limits of deploy/config in a network of its own, with a root that cannot be written. Asks as the image and as a
 * proxy beside it do, and stops it.
 */
async function served(root: string, settings: Settings): Promise<void> {
  cpSync(join(deploy, 'config'), join(root, settings.folder), { recursive: true });
  const network = `ip link set lo up && ip address add ${PRIVATE}/32 dev lo && exec "$@"`;
  const serve = inChroot(root, settings, [...settings.entryPoint, ...settings.words]);
  const child = spawn('unshare', ['--net', 'sh', '-c', network, 'sh', ...serve], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const beside = ['--net', `--target=${child.pid}`];
  try {
    await printed(child, /^http listens on /);
    run('nsenter', [...beside, ...inChroot(root, settings, settings.healthCheck)]);
    console.log('HEALTHCHECK: 0');
    const [program = '', ...words] = inChroot(root, settings, ['touch', join(settings.folder, 'written')]);
    if (spawnSync(program, words).status === 0) throw new Error('The root can be written.');
    const answer = run('nsenter', [...beside, process.execPath, '--input-type=module', '--eval', REQUEST]);
    console.log(answer);
    if (!answer.startsWith('200 ')) process.exitCode = 1;
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    console.log(`SIGTERM: exit code ${code}`);
    if (code !== 0) process.exitCode = 1;
  }
}

/** A Debian of the release that the name of a Node image has, made once, with that Node and the user `node`. */
async function makeBase(root: string, image: string): Promise<void> {
  const [, major = '', release = ''] = /^node:(\d+)-([a-z]+)-slim$/.exec(image) ?? [];
  const base = join(folder, image.replaceAll(/\W/g, '-'));
  if (!existsSync(base)) {
    aptInstall('debootstrap');
    const mirror = run('apt-get', ['indextargets', '--format', '$(REPO_URI) $(RELEASE)'])
      .split('\n')
      .find((line) => line.endsWith(` ${release}`))!
      .split(' ')[0]!;
    run('debootstrap', ['--variant=minbase', release, base, mirror]);
    run('npm', ['install', '--prefix', join(folder, 'node'), '--no-audit', '--no-fund', `node@${major}`]);
    cpSync(join(folder, 'node/node_modules/node/bin/node'), join(base, 'usr/local/bin/node'), { dereference: true });
    const npm = dirname(dirname(realpathSync(run('sh', ['-c', 'command -v npm']).trim())));
    cpSync(npm, join(base, 'usr/local/lib/node_modules/npm'), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(base, 'usr/local/bin/npm'));
    appendFileSync(join(base, 'etc/passwd'), 'node:x:1000:1000::/home/node:/bin/bash\n');
    appendFileSync(join(base, 'etc/group'), 'node:x:1000:\n');
    console.log(`  Debian ${release}, Node ${run('chroot', [base, 'node', '--version']).trim()}`);
  }
  run('cp', ['--archive', base, root]);
}

/** The program and words that run a command as the user of the image, in a root that cannot be written. */
function inChroot(root: string, settings: Settings, command: readonly string[]): string[] {
  const script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec chroot "$@"';
  const inside = ['sh', '-c', 'cd "$0" && exec "$@"', settings.folder, ...command];
  const words = [`--userspec=${settings.user}`, root, 'env', '-i', ...variables(settings), ...inside];
  return ['unshare', '--mount', 'sh', '-c', script, 'sh', root, ...words];
}

function variables({ env }: Settings): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

function newSettings(): Settings {
  return { env: {}, folder: '/', user: '0:0', healthCheck: [], entryPoint: [], words: [] };
}

/** The lines of a Dockerfile without comments. */
function linesOf(file: string): readonly string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line));
}

function listed(text: string): readonly string[] {
  return JSON.parse(text) as readonly string[];
}

function run(program: string, words: readonly string[]): string {
  return execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

async function printed({ stdout }: { readonly stdout: Readable }, wanted: RegExp): Promise<void> {
  for await (const line of createInterface(stdout)) if (wanted.test(line)) return;
  throw new Error('The entry point ended.');
}
