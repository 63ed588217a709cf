// A load in a thread of its own, until the thread ends.
import { workerData } from 'node:worker_threads';
import { Load } from './load.mjs';

await new Load(workerData).during(Infinity);
