import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { parse, type ParseJob } from './sources/parse.ts';

// The YAML library asks the environment at every lexeme whether to log it; a plain object answers five times as fast.
process.env = {};

const { port, ...job } = workerData as ParseJob & { readonly port: MessagePort };
parse(job, (message) => {
  // The receiver takes rows off the port when it has time, and is woken by the other way.
  port.postMessage(message);
  parentPort!.postMessage(null, []);
});
port.close();
