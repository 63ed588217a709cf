// A process that serves what the contenders of the part `host` ask for.
import { hostStore } from '@sluice/host';
import { spawnSync } from 'node:child_process';
import { coresCanBeChosen } from '../harness/processes.mjs';

const [socket = '', core = '0'] = process.argv.slice(2);

if (coresCanBeChosen) spawnSync('taskset', ['-cp', core, `${process.pid}`]);
const store = hostStore({ socket, log: false });
await store.ready();
process.send?.('ready');
process.on('disconnect', () => process.exit());
