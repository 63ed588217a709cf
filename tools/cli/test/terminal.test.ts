import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Terminal } from '../src/console/terminal.ts';

/** A process whose end is recorded. */
function fakeProcess() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const exits: number[] = [];
  const parts = { stdin, stdout, stderr, env: {}, exit: (code: number) => void exits.push(code) };
  const process = Object.assign(new EventEmitter(), parts);
  return { process, stdout, stderr, exits, terminal: Terminal.ofProcess(process as unknown as NodeJS.Process) };
}

describe('the terminal of a process', () => {
  it('is interrupted by the first Ctrl-C, and leaves the second to Node, which ends the process', () => {
    const { process, terminal } = fakeProcess();
    expect(terminal.interrupted.aborted).toBe(false);
    process.emit('SIGINT');
    expect(terminal.interrupted.aborted).toBe(true);
    expect(process.listenerCount('SIGINT')).toBe(0);
  });

  it('ends the process without a message when the reader of its output leaves', () => {
    const { stdout, stderr, exits } = fakeProcess();
    stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    expect({ exits, written: stderr.read() as unknown }).toEqual({ exits: [141], written: null });
  });

  it('ends the process with a message when its output can not be written', async () => {
    const { stdout, stderr, exits } = fakeProcess();
    stdout.emit('error', Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
    await expect.poll(() => exits).toEqual([2]);
    expect(String(stderr.read())).toBe("error: The output can't be written: ENOSPC: no space left on device, write.\n");
  });

  it('has the width of the terminal, and 80 columns for a file', () => {
    const { process, terminal } = fakeProcess();
    expect(terminal.columns('stdout')).toBe(80);
    Object.assign(process.stdout, { columns: 132 });
    expect(terminal.columns('stdout')).toBe(132);
  });
});
