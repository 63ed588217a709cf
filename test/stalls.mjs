// Loaded into every process of `npm run trial -- stalled`: its event loop stops for 300 ms now and then, as on a machine that does
// twenty times as much besides.
import { setTimeout } from 'node:timers';

const STALL_MS = 300;
/** How long it runs between two of them, on average. */
const RUNS_MS = 700;

const cell = new Int32Array(new SharedArrayBuffer(4));

function stallLater() {
  setTimeout(
    () => {
      Atomics.wait(cell, 0, 0, STALL_MS);
      stallLater();
    },
    2 * RUNS_MS * Math.random(),
  ).unref();
}

stallLater();
