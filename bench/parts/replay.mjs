import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { ofClone } from '../harness/clone.mjs';
import { whole, withSpread } from '../harness/table.mjs';

const MAIN = fileURLToPath(ofClone('tools/cli/dist/main.js'));
const LIMITS = 'PerAddress: { count: 10, period: 1m, idFormat: ipAddress }\n';
/** Prints the largest memory of a process when it ends. */
const REPORT_MEMORY = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => process.stderr.write('RSS ' + process.resourceUsage().maxRSS + '\\n'));",
)}`;
/** Runs a command, and prints the processor time of the shell, then that of the command, each in the form `0m1.23s`. */
const TIMED = '"$@" > /dev/null && times';
const HOSTILE = 'combined, hostile';
const FORMATS = ['combined', 'pino', 'pino, gzip', HOSTILE];
const CONTENDERS = ['Sluice', 'bare tokeniser', 'goaccess'];
const TARGETS = { linesPerSecond: 250_000, rssMb: 300 };

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'replay: access logs against limits',
  rounds: 3,
  turns: () => 1,
  runs: ({ quick }) =>
    FORMATS.flatMap((format) =>
      CONTENDERS.filter((contender) => canRead(contender, format)).map((contender) => ({
        contender,
        case: format,
        settings: { lines: quick ? 10_000 : 2_000_000 },
      })),
    ),
  prepare: async ({ contender, case: format, settings = {} }) => {
    const { lines } = /** @type {{ lines: number }} */ (settings);
    return async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
      const log = join(folder, 'access.log');
      writeLog(log, format, lines);
      const { cpuSeconds, wallSeconds, ...memory } = measured(contender, folder, log);
      rmSync(folder, { recursive: true });
      return { linesPerCpuSecond: lines / cpuSeconds, linesPerSecond: lines / wallSeconds, ...memory };
    };
  },
  counts: { cases: ['combined', HOSTILE], figures: { rssMb: 0.2 } },
  tables: (results) => [
    {
      title: 'Lines per second of processor time, and on the clock',
      rows: [
        ['', ...FORMATS.flatMap((format) => [format, 'clock'])],
        ...CONTENDERS.map((contender) => [
          contender,
          ...FORMATS.flatMap((format) => [
            withSpread(results.figure(contender, format, 'linesPerCpuSecond'), whole),
            withSpread(results.figure(contender, format, 'linesPerSecond'), whole),
          ]),
        ]),
        [
          'target of Sluice',
          ...FORMATS.flatMap((format) => [format === HOSTILE ? '' : `> ${TARGETS.linesPerSecond}`, '']),
        ],
      ],
      notes: [
        'Processor time includes that of the threads of V8 and of zlib.',
        'A log of whole seconds (combined) is replayed twice in one reading, one of milliseconds (pino) once.',
        'The bare tokeniser reads each byte and finds lines and spaces: no reader in JavaScript is faster.',
        ...(hasGoaccess() ? ['goaccess counts and decides nothing.'] : ['goaccess is not installed.']),
      ],
    },
    {
      title: 'The largest memory of the process, in MB',
      rows: [
        ['', ...FORMATS],
        ['Sluice', ...FORMATS.map((format) => withSpread(results.figure('Sluice', format, 'rssMb'), whole))],
        ['target', ...FORMATS.map(() => `< ${TARGETS.rssMb}`)],
      ],
      notes: ['In the hostile log each line has a new address and a new path, and there are 10,000 lines a second.'],
    },
  ],
};

/**
 * @typedef {{ cpuSeconds: number, wallSeconds: number, rssMb?: number }} Measured
 */

/**
 * @param {string} contender
 * @param {string} folder
 * @param {string} log
 * @returns {Measured}
 */
function measured(contender, folder, log) {
  if (contender === 'bare tokeniser') return tokenised(log);
  if (contender === 'goaccess')
    return timed('goaccess', [log, '--log-format=COMBINED', '-o', join(folder, 'report.json')]);
  const limits = join(folder, 'limits.yaml');
  writeFileSync(limits, LIMITS);
  const args = ['--import', REPORT_MEMORY, MAIN, 'replay', log, '--limits', limits, '--json'];
  const { errors, ...times } = timed(process.execPath, args);
  const [, kilobytes] = /RSS (\d+)/.exec(errors) ?? [];
  if (kilobytes === undefined) throw new Error(errors);
  return { ...times, rssMb: Number(kilobytes) / 1024 };
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {Measured & { errors: string }}
 */
function timed(command, args) {
  const startMs = performance.now();
  const { status, stdout, stderr } = spawnSync('sh', ['-c', TIMED, 'sh', command, ...args], { encoding: 'utf8' });
  const wallSeconds = (performance.now() - startMs) / 1000;
  const [, , user = NaN, system = NaN] = [...stdout.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => 60 * Number(minutes) + Number(seconds),
  );
  if (status !== 0) throw new Error(stderr);
  return { cpuSeconds: user + system, wallSeconds, errors: stderr };
}

/**
 * @param {string} log
 * @returns {Measured}
 */
function tokenised(log) {
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()];
  const [file, buffer] = [openSync(log, 'r'), Buffer.allocUnsafe(262_144)];
  let [lines, fields] = [0, 0];
  for (let size = readSync(file, buffer); size > 0; size = readSync(file, buffer)) {
    for (let i = 0; i < size; i++) {
      const byte = buffer[i];
      if (byte === 32) fields++;
      else if (byte === 10) lines++;
    }
  }
  closeSync(file);
  if (lines === 0 && fields === 0) throw new Error('The log is empty.');
  const { user, system } = process.cpuUsage(startCpu);
  return { cpuSeconds: (user + system) / 1e6, wallSeconds: (performance.now() - startMs) / 1000 };
}

/**
 * Writes a log of about 1,000 requests a second from 50,000 addresses, of which few send most; or a hostile one.
 *
 * @param {string} path
 * @param {string} format
 * @param {number} count
 */
function writeLog(path, format, count) {
  const file = openSync(path, 'w');
  let [state, ms] = [12_345, Date.UTC(2026, 10, 22)];
  const random = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32;
  for (let written = 0; written < count;) {
    const lines = [];
    for (; lines.length < 10_000 && written < count; written++) {
      if (format === HOSTILE) {
        lines.push(combined(ms + Math.floor(written / 10), ...newClient(written)));
        continue;
      }
      ms += random() * 2;
      const client = Math.floor(random() ** 3 * 50_000);
      const address = `10.${client >> 8}.${client & 255}.7`;
      const url = `/users/${Math.floor(random() * 1000)}/orders?page=${written}`;
      lines.push(format === 'combined' ? combined(Math.floor(ms), address, url) : pino(Math.floor(ms), address, url));
    }
    writeSync(file, lines.join(''));
  }
  closeSync(file);
  if (format.endsWith('gzip')) writeFileSync(path, gzipSync(readFileSync(path)));
}

/**
 * An address and a path that no other line has.
 *
 * @param {number} number
 * @returns {[string, string]}
 */
function newClient(number) {
  const hex = number.toString(16).padStart(8, '0');
  return [`2001:db8:${hex.slice(0, 4)}:${hex.slice(4)}:a:b:c:d`, `/of-${hex}/new-${hex}/path?page=${number}`];
}

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0';

/**
 * @param {number} ms
 * @param {string} address
 * @param {string} url
 */
function combined(ms, address, url) {
  const [, day, time] = /^.{8}(..)T(.{8})/.exec(new Date(ms).toISOString()) ?? [];
  return `${address} - - [${day}/Nov/2026:${time} +0000] "GET ${url} HTTP/1.1" 200 612 "https://example.com/" "${AGENT}"\n`;
}

/**
 * @param {number} time
 * @param {string} remoteAddress
 * @param {string} url
 */
function pino(time, remoteAddress, url) {
  const headers = { host: 'example.com', 'user-agent': AGENT, accept: '*/*' };
  const req = { id: 1, method: 'GET', url, query: {}, params: {}, headers, remoteAddress, remotePort: 4711 };
  const res = { statusCode: 200, headers: { 'content-type': 'application/json' } };
  return `${JSON.stringify({ level: 30, time, pid: 1, hostname: 'web-1', req, res, responseTime: 3, msg: 'done' })}\n`;
}

/**
 * @param {string} contender
 * @param {string} format
 */
function canRead(contender, format) {
  if (contender === 'goaccess') return format === 'combined' && hasGoaccess();
  return contender === 'Sluice' || !format.endsWith('gzip');
}

function hasGoaccess() {
  return spawnSync('goaccess', ['--version'], { stdio: 'ignore' }).status === 0;
}
