import { onTestFinished, test } from 'vitest';
import { folder } from '../../host/socket-path.ts';
import { findsAnotherService } from './several-services.ts';

test('a service finds another one that has a limit of the same name on one socket', async () => {
  const sockets = folder();
  onTestFinished(() => sockets.delete());
  const apart = { kind: 'host', at: sockets.newSocket() } as const;
  await findsAnotherService({ kind: 'host', at: sockets.newSocket() }, 'a socket of its own', apart);
});
