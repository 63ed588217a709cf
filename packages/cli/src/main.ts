#!/usr/bin/env node
/** The program `sluice`. */
import { runSluice } from './program.ts';
import { Terminal } from './console/terminal.ts';

const terminal = Terminal.ofProcess(process);
const code = await runSluice(process.argv.slice(2), terminal);
process.exitCode = code;
await terminal.flush();
// A command that was interrupted may have left connections open, which would keep the process alive.
if (terminal.interrupted.aborted) process.exit(code);
