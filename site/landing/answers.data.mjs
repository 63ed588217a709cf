// The answers of a real server to requests at once, for the landing page: the page decides by the same rule, and shows them.
import { createServer, get } from 'node:http';

const LIMIT = { burst: 5, count: 1, period: '1s' };

/** As in README: without the fields of Node, which say nothing about the limit. */
const LEFT_OUT = ['Date', 'Connection', 'Keep-Alive', 'Transfer-Encoding'];

/** The answers by the tokens that are left and that of a denied request. */
export default {
  /** @returns {Promise<{ allowed: string[], denied: string }>} */
  async load() {
    const [core, { FakeTime }, { limitNode }] = await Promise.all(
      ['core/dist/index.js', 'core/dist/testing.js', 'node/dist/index.js'].map(
        (file) => import(new URL(`../../packages/${file}`, import.meta.url).href),
      ),
    );
    // On a clock that stands still, because a busy machine may need a second for six requests.
    const limits = { default: { key: core.clientNetwork(), ...LIMIT } };
    const limit = limitNode({ limiter: core.createLimiter({ limits, time: new FakeTime() }) });
    const server = createServer(
      limit((/** @type {unknown} */ _request, /** @type {import('node:http').ServerResponse} */ response) =>
        response.end('hello\n'),
      ),
    );
    await new Promise((resolve) => void server.listen(0, '127.0.0.1', () => resolve(undefined)));
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    const answers = await Promise.all(Array.from({ length: LIMIT.burst + 1 }, () => answerOf(port)));
    server.close();
    const denied = answers.find((answer) => answer.includes(' 429 ')) ?? '';
    return { allowed: answers.filter((answer) => answer !== denied).toSorted(byTokens), denied };
  },
};

/** @param {number} port @returns {Promise<string>} */
function answerOf(port) {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', agent: false }, (response) => {
      const { statusCode, statusMessage, rawHeaders } = response;
      const fields = rawHeaders.flatMap((name, i) =>
        i % 2 === 0 && !LEFT_OUT.includes(name) ? `${name}: ${rawHeaders[i + 1]}` : [],
      );
      let body = '';
      response.on('data', (part) => (body += String(part)));
      response.on('end', () => resolve([`HTTP/1.1 ${statusCode} ${statusMessage}`, ...fields, '', body].join('\n')));
    }).on('error', reject);
  });
}

/** @param {string} a @param {string} b */
function byTokens(a, b) {
  return Number(/;r=(\d+)/.exec(a)?.[1]) - Number(/;r=(\d+)/.exec(b)?.[1]);
}
