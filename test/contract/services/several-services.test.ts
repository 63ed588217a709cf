import { expect, onTestFinished, test } from 'vitest';
import { folder } from '../../host/socket-path.ts';
import { eventsOfServices, expected } from './several-services.ts';

test('a service finds another one that has a limit of the same name on one socket', async () => {
  const sockets = folder();
  onTestFinished(() => sockets.delete());
  const apart = { kind: 'host', at: sockets.newSocket() } as const;
  const together = { kind: 'host', at: sockets.newSocket() } as const;
  expect(await eventsOfServices(together, apart)).toEqual(expected('a socket of its own'));
});
