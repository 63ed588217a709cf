// Opens a script client to each URL, waits for its first change of state, and closes it: the process must then end.
import { openClient } from '../../../src/open-client.ts';
import { testScript } from './scripts.ts';

for (const url of process.argv.slice(2)) {
  const scriptClient = openClient({
    url,
    caller: 'redisStore',
    script: testScript,
    onChange: async ({ state }) => {
      if (state === 'closed') return;
      await scriptClient.close();
      console.log(`closed from ${state}`);
    },
  });
}
