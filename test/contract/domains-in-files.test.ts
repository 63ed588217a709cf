import { loadLimits } from '@sluice/config';
import { accountId, compound } from '@sluice/core';
import { domain, fqdnSet } from '@sluice/domains';
import { expect, it } from 'vitest';

const limits = `
Certificates: { idFormat: domain, count: 50, period: 168h }
NameSets: { idFormat: fqdnSet, count: 5, period: 168h }
Failures: { idFormat: 'accountId:domain', count: 5, period: 1h }
`;

async function load(overrides: string): Promise<unknown> {
  return loadLimits({
    defaults: () => limits,
    overrides: () => overrides,
    keys: { Certificates: domain(), NameSets: fqdnSet(), Failures: compound(accountId(), domain()) },
  });
}

function override(limit: string, ...ids: string[]): string {
  return `- ${limit}: { count: 9, period: 1h, ids: [${ids.map((id) => JSON.stringify(id)).join(', ')}] }\n`;
}

it('overrides in a file may name domains, sets of names, and domains of an account', async () => {
  const overrides = [
    override('Certificates', 'bücher.de', 'github.io'),
    override('NameSets', 'a.com,b.com', 'd369b37f99877f3e838199244f127dcb3c8f2bdcfbb794241786cc9fc2a1a365'),
    override('Failures', '1001:example.com', '1002:example.com'),
  ];
  await expect(load(overrides.join(''))).resolves.toBeDefined();
});

it.each([
  ['Certificates', 'www.example.com', "Write 'example.com', the registered domain that it belongs to."],
  ['Certificates', '*.example.com', 'A wildcard is not a name'],
  ['NameSets', 'a.com,203.0.113.7', '`id (name 2)` must be a domain name'],
  ['Failures', '1001:www.example.com', "Write 'example.com', the registered domain that it belongs to."],
])('a wrong id of %s is reported with line and column: %s', async (limit, id, reason) => {
  const message = new RegExp(`^overrides:2:\\d+: .*${limit}.*${escaped(reason)}`, 'm');
  await expect(
    load(override(limit === 'NameSets' ? 'Certificates' : 'NameSets', 'c.com') + override(limit, id)),
  ).rejects.toThrow(message);
});

it.each([
  ['Certificates', 'bücher.de', 'XN--BCHER-KVA.de.'],
  ['NameSets', 'a.com,b.com', 'B.com,a.com'],
  ['Failures', '1001:example.com', '1001:EXAMPLE.com'],
])('two spellings of an id of %s are one id twice: %s, %s', async (limit, one, other) => {
  await expect(load(override(limit, one, other))).rejects.toThrow(/ twice, first at /);
});

function escaped(text: string): string {
  return text.replaceAll(/[().*]/g, String.raw`\$&`);
}
