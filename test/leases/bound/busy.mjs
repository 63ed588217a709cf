// Keeps one core busy until the process that started it ends.
import { setImmediate as nextTurn } from 'node:timers/promises';

process.on('disconnect', () => process.exit());
for (;;) {
  const untilMs = performance.now() + 100;
  while (performance.now() < untilMs);
  // oxlint-disable-next-line no-await-in-loop -- so that it can end
  await nextTurn();
}
