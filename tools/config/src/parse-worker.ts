import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { parse, type ParseJob } from './sources/parse.ts';

// The YAML library reads `process.env` for every lexeme, to decide whether to log it. A plain object is read five times
// faster.
process.env = {};

const { port, ...job } = workerData as ParseJob & { readonly port: MessagePort };
parse(job, (message) => {
  // The receiver reads rows from the port when it is ready for them. An empty message to the parent port wakes it.
  port.postMessage(message);
  parentPort!.postMessage(null, []);
});
port.close();
