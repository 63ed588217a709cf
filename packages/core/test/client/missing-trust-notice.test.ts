import { describe, expect, test } from 'vitest';
import { clientAddressFinder } from '../../src/client/client-address.ts';
import { requestFrom, requestOverUnixSocket } from '../support/fake-request.ts';

const forwarded = { 'x-forwarded-for': '203.0.113.7' };

function finderWithWarnings(trustedProxies?: readonly string[]) {
  const warnings: string[] = [];
  const warn = (message: string): number => warnings.push(message);
  return { warnings, find: clientAddressFinder({ ...(trustedProxies && { trustedProxies }), warn }) };
}

describe('X-Forwarded-For from an address that is typical of a proxy, while trustedProxies is not set,', () => {
  test.each([
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['fd00::1', 'private'],
  ])('from %s warns once, naming %s', (peer, name) => {
    const { warnings, find } = finderWithWarnings();
    for (let request = 0; request < 3; request++) find(requestFrom(peer, forwarded));
    expect(warnings).toEqual([expect.stringContaining(`set trustedProxies: ['${name}']`)]);
  });

  test('from a unix socket warns, and the request still fails', () => {
    const { warnings, find } = finderWithWarnings();
    expect(() => find(requestOverUnixSocket(forwarded))).toThrow("trustedProxies: ['unix']");
    expect(warnings).toEqual([
      expect.stringContaining('from a unix socket has an X-Forwarded-For header, but `trustedProxies` is not set'),
    ]);
  });

  test('the warning explains the effect, how to disable it, and that the setting of the framework is not used', () => {
    const { warnings, find } = finderWithWarnings();
    find(requestFrom('10.0.0.1', forwarded));
    const [warning] = warnings;
    expect(warning).toContain('from 10.0.0.1');
    expect(warning).toContain('all clients behind that proxy may share one bucket');
    expect(warning).toContain('set trustedProxies: []');
    expect(warning).toContain("Express 'trust proxy', Koa 'proxy', Fastify 'trustProxy'");
  });

  test('a public peer causes no warning, but the first private one does', () => {
    const { warnings, find } = finderWithWarnings();
    find(requestFrom('198.51.100.1', forwarded));
    expect(warnings).toEqual([]);
    find(requestFrom('10.0.0.1', forwarded));
    expect(warnings).toHaveLength(1);
  });

  test('no header, no warning', () => {
    const { warnings, find } = finderWithWarnings();
    find(requestFrom('127.0.0.1'));
    expect(warnings).toEqual([]);
  });

  test.each([[[]], [['10.0.0.0/8']]])('trustedProxies: %j is silent', (trustedProxies) => {
    const { warnings, find } = finderWithWarnings(trustedProxies);
    find(requestFrom('127.0.0.1', forwarded));
    find(requestFrom('10.0.0.1', forwarded));
    expect(warnings).toEqual([]);
  });
});
