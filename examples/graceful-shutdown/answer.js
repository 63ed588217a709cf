import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the answer costs in the end. */
const TRUE_COST = 30;

/** An answer that takes its time. */
export function answer() {
  return Readable.from(words());
}

/** Writes down what an answer has cost, as a database would, and gives it. */
export async function billed() {
  await sleep(100);
  return TRUE_COST;
}

async function* words() {
  for (const word of ['All', 'is', 'well', 'that', 'ends', 'well.\n']) {
    yield `${word} `;
    // oxlint-disable-next-line no-await-in-loop -- one word after the other
    await sleep(100);
  }
}
