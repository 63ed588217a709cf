// A load in a thread of its own.
import { workerData } from 'node:worker_threads';
import { Load } from './load.mjs';

// oxlint-disable-next-line no-new -- it runs until the thread ends
new Load(workerData);
