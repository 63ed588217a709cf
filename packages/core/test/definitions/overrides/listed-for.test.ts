import { accountId, clientNetwork, compound, ipAddress, OverrideList, type Key } from '@sluice/core';
import { overridesOf } from '@sluice/core/kit';
import { expect, test } from 'vitest';

const per = { count: 5, period: '1s' };

test.each<[string, Key, string[], string, string | undefined]>([
  ['the id itself', accountId(), ['alice'], 'alice', 'alice'],
  ['nothing for an id that is not listed', accountId(), ['alice'], 'bob', undefined],
  ['the id itself rather than a network', ipAddress(), ['10.1.0.0/16', '10.1.2.3'], '10.1.2.3', '10.1.2.3'],
  ['the smallest network', ipAddress(), ['10.0.0.0/8', '10.1.0.0/16', '0.0.0.0/0'], '10.1.2.3', '10.1.0.0/16'],
  ['the network of everything', ipAddress(), ['0.0.0.0/0'], '10.1.2.3', '0.0.0.0/0'],
  ['no network of another family', ipAddress(), ['0.0.0.0/0'], '2001:db8::1', undefined],
  ['the first part of the id', compound(accountId(), accountId()), ['a', 'b'], 'a:x:y', 'a'],
  ['a network of ids that are networks', clientNetwork(), ['2001:db8::/32'], '2001:db8:7::/48', '2001:db8::/32'],
])('the override of an id is listed for %s', (_, key, listed, id, found) => {
  const list = new OverrideList();
  for (const text of listed) list.add('Requests', { key }, text, per);
  expect(overridesOf(list, 'Requests')!.listedFor(id)).toBe(found);
});
