// A program that opens a line, waits until something has come of it, and closes it: it must then end by itself.
import { openLine } from '../../../src/line/open-line.ts';
import { echo } from './scripts.ts';

const line = openLine({
  url: process.argv[2],
  scripts: [echo],
  onChange: ({ state }) => state !== 'closed' && end(state),
});

async function end(state: string): Promise<void> {
  await line.close();
  console.log(`closed from ${state}`);
}
