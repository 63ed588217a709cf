import { accountId, clientNetwork } from '@sluice/core';
import { checkLimits } from '@sluice/config';
import { describe, expect, it } from 'vitest';
import { rejected } from '../../../packages/core/test/support/thrown.ts';
import { LIMITS, written } from './written-files.ts';

describe('checkLimits, without the code of the application', () => {
  const LIMITS_OF_FORMATS = `
PerAddress: { count: 1, period: 1s, idFormat: ipAddress }
PerAccount: { count: 1, period: 1s, idFormat: regId }
PerClientAndAccount: { count: 1, period: 1s, idFormat: "clientNetwork:regId" }
PerAccountOrClient: { count: 1, period: 1s, idFormat: accountId|clientNetwork }
PerColor: { count: 1, period: 1s, idFormat: color }
PerShade: { count: 1, period: 1s, idFormat: shade }
PerBoth: { count: 1, period: 1s, idFormat: "color:shade" }
Unsaid: { count: 1, period: 1s }
`;
  const color = { name: 'color', canonical: (text: string) => text.toLowerCase() };

  it('checks files by the formats that they name', async () => {
    const ids = Object.entries({
      PerAddress: ['10.0.0.0/8', 'x'],
      PerAccount: ['x'],
      PerClientAndAccount: ['203.0.113.7:x', 'x'],
      PerAccountOrClient: ['x', 'clientNetwork:x'],
      PerColor: ['Red', 'red'],
      PerShade: ['x'],
      Unsaid: ['x'],
    }).map(([limit, texts]) => `- ${limit}: { unlimited: true, ids: ${JSON.stringify(texts)} }\n`);
    const { dir, defaults, overrides } = written({ limits: LIMITS_OF_FORMATS, overrides: ids.join('') });
    const problems = await checkLimits({ defaults, overrides, formats: [color, clientNetwork()] });
    expect(problems.map(({ text }) => text.replace(`${dir}/`, ''))).toMatchInlineSnapshot(`
      [
        "limits.yaml:7:45: \`PerShade.idFormat\` must be a known id format, but was 'shade'. Formats: accountId, by, clientNetwork, ipAddress, ipv6RangeCIDR, everyone, color. For others, use the option \`formats\`.",
        "limits.yaml:8:44: \`PerBoth.idFormat\` must be a known id format, but was 'color:shade'. Formats: accountId, by, clientNetwork, ipAddress, ipv6RangeCIDR, everyone, color. For others, use the option \`formats\`.",
        "overrides.yaml:1:53: \`overrides.PerAddress\` lists the id 'x': \`id\` must be an IPv4 or IPv6 address, such as '203.0.113.7' or '2001:db8::1', but was 'x'. Write an address alone, without host name, port, brackets or mask: '203.0.113.7'.",
        "overrides.yaml:3:65: \`overrides.PerClientAndAccount\` lists the id 'x': \`id\` must be an IPv4 address, or an IPv6 network with the mask /48, but was 'x'. Write an IPv4 address such as '203.0.113.7', or an IPv6 network such as '2001:db8:7::/48'.",
        "overrides.yaml:4:52: \`overrides.PerAccountOrClient\` lists the id 'clientNetwork:x': \`id\` must be an IPv4 address, or an IPv6 network with the mask /48, but was 'x'. Write an IPv4 address such as '203.0.113.7', or an IPv6 network such as '2001:db8:7::/48'.",
        "overrides.yaml:5:44: \`PerColor\` lists the id 'red' twice, first at 5:38. Keep one of the two.",
        "overrides.yaml:7:3: \`Unsaid\` needs an idFormat, by which its ids are checked without code. For example idFormat: accountId.",
      ]
    `);
    expect(problems[0]).toEqual({
      file: defaults,
      line: 7,
      column: 45,
      limit: 'PerShade',
      message: expect.any(String),
      text: expect.stringMatching(/^\//),
    });
  });

  it.each([
    [
      'of formats that can’t be combined',
      'accountId|clientNetwork|clientNetwork',
      '`.or` needs fallbacks of different formats, but clientNetwork is used already. Get both ids in one function instead: (req) => req.user?.id ?? req.apiKey ?? null.',
    ],
    [
      'of more than eight parts',
      Array(9).fill('accountId').join(':'),
      'Formats: accountId, by, clientNetwork, ipAddress, ipv6RangeCIDR, everyone. For others, use the option `formats`.',
    ],
  ])('reports a format %s at its position', async (_, idFormat, reason) => {
    const limits = `A: { count: 1, period: 1s, idFormat: "${idFormat}" }\n`;
    const ids = Array.from({ length: 2000 }, (__, i) => `accountId:${i}`);
    const { dir, defaults, overrides } = written({
      limits,
      overrides: JSON.stringify([{ A: { unlimited: true, ids } }]),
    });
    const shown = idFormat.length > 80 ? `${idFormat.slice(0, 80)}…` : idFormat;
    expect((await checkLimits({ defaults, overrides })).map(({ text }) => text.replace(`${dir}/`, ''))).toEqual([
      `limits.yaml:1:38: \`A.idFormat\` must be a known id format, but was '${shown}'. ${reason}`,
    ]);
  });

  it('reports an override of an unknown limit', async () => {
    const { defaults, overrides } = written({ overrides: '- Other: { unlimited: true, ids: [1] }\n' });
    expect((await checkLimits({ defaults, overrides })).map(({ message }) => message)).toEqual([
      expect.stringMatching(/^`Other` is not the name of a limit\./),
    ]);
  });

  it('needs no format for limits without overrides', async () => {
    const { defaults } = written({ limits: LIMITS });
    expect(await checkLimits({ defaults })).toEqual([]);
  });

  it.each([
    [
      { formats: 'domain' },
      "`formats` must be a list of id formats, or of keys for theirs, but was 'domain'. For example formats: [domain(), fqdnSet()].",
    ],
    [
      { formats: [accountId] },
      '`formats[0]` must be an id format, or a key, but was [Function: accountId]. For example formats: [domain(), fqdnSet()].',
    ],
    [
      { only: 1 },
      '`checkLimits` has no option `only` (its value was 1). Options: defaults, overrides, maxBytes, formats, keys.',
    ],
  ])('rejects wrong options: %o', async (options, message) => {
    expect((await rejected(() => checkLimits({ defaults: 'x', ...options } as never))).message).toBe(message);
  });
});
