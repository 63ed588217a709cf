// Opens a line to each URL, waits until something has come of it, and closes it: the process must then end by itself.
import { openLine } from '../../../src/ioredis/open-client.ts';
import { echo } from './scripts.ts';

for (const url of process.argv.slice(2)) {
  const line = openLine({
    url,
    scripts: [echo],
    onChange: async ({ state }) => {
      if (state === 'closed') return;
      await line.close();
      console.log(`closed from ${state}`);
    },
  });
}
