import { expect, test } from 'vitest';
import { ownPostgresServer } from '../../postgres/postgres-server.ts';
import { eventsOfServices, expected } from './several-services.ts';

test('a service finds another one that has a limit of the same name in one table', async () => {
  const { url: at } = await ownPostgresServer();
  const apart = { kind: 'postgres', at, own: 'billing' } as const;
  expect(await eventsOfServices({ kind: 'postgres', at }, apart)).toEqual(expected('its own `table`'));
});
