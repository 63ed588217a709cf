import { clientNetwork, everyone, ipAddress, by, type LimitDefinition } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import type { LogFormat } from '../../src/replay/formats/line-parser.ts';
import { ClientTable } from '../../src/replay/keys/client-table.ts';
import { Identities, type AddressRule, type IdentifiedLimit } from '../../src/replay/keys/identities.ts';
import { keyRules, type IdRule } from '../../src/replay/keys/key-rules.ts';
import { PRESETS } from '../../src/replay/formats/presets.ts';

const [TEXT, UPPER] = ['missing', 'upper'].map((name) =>
  by(undefined, { format: { name, canonical: (text) => (name === 'upper' ? text.toUpperCase() : text) } }),
) as [LimitDefinition['key'], LimitDefinition['key']];
const JSON_LINES = PRESETS.find(({ name }) => name === 'json')!;

function ruleOf(words: readonly string[], key: LimitDefinition['key']): IdRule {
  return keyRules(words, { Orders: { key, count: 1, period: '1s' } } as never, ['Orders']).get('Orders')!;
}

/** The ids of lines by a rule, with what was counted. */
function idsOf(
  rule: IdRule,
  lines: readonly string[],
  { addresses = {}, format = JSON_LINES }: { addresses?: Partial<AddressRule>; format?: LogFormat } = {},
): { ids: (string | undefined)[]; limit: IdentifiedLimit } {
  const clients = new ClientTable(1000, 1);
  const limit = { name: 'Orders', rule, clients, withoutId: 0, invalidIds: 0, invalidExample: undefined };
  const found = new Identities([limit], { trustedProxies: undefined, addressHeader: undefined, ...addresses });
  const fields = [...new Set(['address', 'request', 'method', 'path', ...found.fields])];
  const [parser, packer, spans] = [format.parser(fields), found.packer(format, fields), new Int32Array(64)];
  const ids = lines.map((line) => {
    const bytes = Buffer.from(line);
    parser.parse(bytes, 0, bytes.length, spans);
    const length = packer.pack(bytes, 0, bytes.length, spans);
    return found.identityOf(packer.bytes, 0, length)[0]?.text;
  });
  return { ids, limit };
}

describe('the ids of a log', () => {
  it.each([
    [['ip'], TEXT, ['10.0.0.1', '2001:db8::1', undefined]],
    [['Orders=network'], TEXT, ['10.0.0.1', '2001:db8::/48', undefined]],
    [['everyone'], TEXT, ['everyone', 'everyone', 'everyone']],
    [['header:X-Api-Key'], UPPER, ['K', undefined, undefined]],
    [['json:headers.x-api-key'], TEXT, ['k', undefined, undefined]],
    [['Orders=ip'], UPPER, ['10.0.0.1', '2001:DB8::1', undefined]],
    [[], by(undefined, { format: ipAddress().format }), ['10.0.0.1', '2001:db8::1', undefined]],
    [[], by(undefined, { format: clientNetwork().format }), ['10.0.0.1', '2001:db8::/48', undefined]],
    [[], by(undefined, { format: everyone().format }), ['everyone', 'everyone', 'everyone']],
  ])('come from --key %s, or else from the format of the ids', (words, key, expected) => {
    const lines = ['{"ip":"10.0.0.1:4711","headers":{"x-api-key":"k"}}', '{"ip":"[2001:DB8:0::1]:443"}', '{}'];
    const { ids, limit } = idsOf(ruleOf(words, key), lines);
    expect(ids).toEqual(expected);
    expect(limit.withoutId).toBe(expected.filter((id) => id === undefined).length);
    expect(limit.invalidIds).toBe(0);
  });

  it.each(['Foo=ip', '=ip', 'Orders=', 'Orders=cookie', 'header:', 'json:'])('can not come from --key %s', (word) => {
    expect(() => ruleOf([word], TEXT)).toThrow(/must be/);
  });

  it('come from the header of a trusted proxy, whatever its name', () => {
    const lines = ['{"ip":"10.0.0.1","headers":{"x-real-ip":"1.2.3.4"}}', '{"ip":"10.0.0.1"}', '{"ip":"10.0.0.1"}'];
    const addresses = { trustedProxies: ['private'], addressHeader: 'X-Real-IP' };
    expect(idsOf(ruleOf(['ip'], TEXT), lines, { addresses }).ids[0]).toBe('1.2.3.4');
    const unix = ['{"ip":"unix:","headers":{"x-real-ip":"1.2.3.4"}}'];
    const trusted = { ...addresses, trustedProxies: ['unix'] };
    expect(idsOf(ruleOf(['ip'], TEXT), unix, { addresses: trusted }).ids).toEqual(['1.2.3.4']);
  });

  it('come from the request that a key function of the user gets', () => {
    const seen: unknown[] = [];
    const idOf = ({ request }: { request: unknown }): string | null => (
      seen.push(request),
      seen.length > 1 ? null : 'a'
    );
    const rule = ruleOf([], { format: { name: 'user', canonical: (text: string) => text }, idOf } as never);
    const lines = [
      '{"ip":"10.0.0.1","request":{"user":"bob","headers":{"X-Tag":["a","b"],"Host":"h"}},"method":"PUT","url":"/x"}',
      '{"ip":"10.0.0.1","headers":{"user-agent":"curl"}}',
      '[]',
    ];
    const { ids, limit } = idsOf(rule, lines);
    expect({ ids, withoutId: limit.withoutId }).toEqual({ ids: ['a', undefined, undefined], withoutId: 2 });
    expect(seen).toMatchObject([
      { user: 'bob', method: 'PUT', url: '/x', headers: { 'x-tag': 'a', host: 'h' }, log: { method: 'PUT' } },
      { method: 'GET', url: '/', originalUrl: '/', headers: { 'user-agent': 'curl' } },
      { method: 'GET', socket: { remoteAddress: '' }, headers: {}, log: undefined },
    ]);
  });

  it('come from the request of a line that is not JSON, also of a strange one', () => {
    const seen: unknown[] = [];
    const idOf = ({ request }: { request: unknown }): null => (seen.push(request), null);
    const rule = ruleOf([], { format: { name: 'user', canonical: (text: string) => text }, idOf } as never);
    const format = PRESETS.find(({ name }) => name === 'combined')!;
    const lines = ['GET', 'POST /a HTTP/1.1'].map((text) => `10.0.0.1 - - [] "${text}" 200 1 "-" "curl"`);
    idsOf(rule, lines, { format });
    expect(seen).toMatchObject([
      { method: 'GET', url: '/', log: undefined, headers: { 'user-agent': 'curl' } },
      { method: 'POST', url: '/a', socket: { remoteAddress: '10.0.0.1' } },
    ]);
  });

  it('are not valid if they are empty, and the replay continues', () => {
    const trimmed = by(undefined, { format: { name: 'trimmed', canonical: (text) => text.trim() } });
    const ofField = idsOf(ruleOf(['json:user'], trimmed), ['{"user":" "}', '{"user":"a "}']);
    const empty = { format: { name: 'user', canonical: (text: string) => text }, idOf: () => '' };
    for (const { ids, limit } of [ofField, idsOf(ruleOf([], empty as never), ['{}'])]) {
      expect(ids[0]).toBeUndefined();
      expect(limit).toMatchObject({ withoutId: 0, invalidIds: 1 });
      expect(limit.invalidExample).toBe('the id is empty');
    }
    expect(ofField.ids[1]).toBe('a');
  });

  it('can not come from a key function that returns a promise', () => {
    const idOf = (): Promise<string> => Promise.resolve('a');
    const rule = ruleOf([], { format: { name: 'user', canonical: (text: string) => text }, idOf } as never);
    expect(() => idsOf(rule, ['{}'])).toThrow(
      "The key of the limit Orders returns a promise, which a replay can't wait",
    );
  });
});
