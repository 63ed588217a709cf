#!/usr/bin/env node
/** The program `sluice`. */
import { runSluice } from './program.ts';
import { Terminal } from './console/terminal.ts';

const terminal = Terminal.ofProcess(process);
const code = await runSluice(process.argv.slice(2), terminal);
await terminal.flush();
// A command that was interrupted, or the module of --keys, may have left timers or connections, which would keep the process
// alive.
process.exit(code);
