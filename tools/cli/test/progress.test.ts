import { PassThrough } from 'node:stream';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it } from 'vitest';
import { Progress, progressLine } from '../src/console/progress.ts';
import { Terminal } from '../src/console/terminal.ts';

describe('progressLine', () => {
  it('shows a bar, bytes, lines per second and the time left', () => {
    expect(progressLine({ bytes: 250e6, lines: 1_000_000, total: 1e9, seconds: 4 })).toBe(
      '█████░░░░░░░░░░░░░░░ 25 %  250 MB of 1.0 GB  250,000 lines/s  12 s left',
    );
  });

  it('shows long times in minutes and hours', () => {
    expect(progressLine({ bytes: 1, lines: 1, total: 100, seconds: 10 })).toContain('16 min 30 s left');
    expect(progressLine({ bytes: 1, lines: 1, total: 1000, seconds: 10 })).toContain('2 h 46 min left');
  });

  it('shows no bar and no time left where the size is not known, as on a pipe', () => {
    expect(progressLine({ bytes: 1500, lines: 30, total: undefined, seconds: 2 })).toBe('1.5 kB  15 lines/s');
  });

  it('never shows more than 100 %, also when a file has grown while it was read', () => {
    expect(progressLine({ bytes: 300, lines: 1, total: 200, seconds: 1 })).toContain(' 100 %  300 B of 200 B');
  });

  it('shows no time left before the first byte', () => {
    expect(progressLine({ bytes: 0, lines: 0, total: 200, seconds: 1 })).not.toContain('left');
  });
});

describe('Progress', () => {
  const drawnOn = (isTTY: boolean): { text: () => string; progress: Progress; time: FakeTime } => {
    const [stderr, time] = [Object.assign(new PassThrough(), { isTTY }), new FakeTime()];
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: {} };
    const terminal = new Terminal(streams, new AbortController().signal);
    const progress = new Progress(terminal, time, { bytes: 100 });
    return { text: () => String(stderr.read() ?? ''), progress, time };
  };

  it('is drawn over itself at most ten times a second, and removed at the end', () => {
    const { text, progress, time } = drawnOn(true);
    progress.update(1, 1);
    expect(text()).toBe('');
    time.advance(100);
    progress.update(50, 1);
    expect(text()).toBe('\r██████████░░░░░░░░░░ 50 %  50 B of 100 B  10 lines/s  1 s left\u001B[K');
    progress.end();
    expect(text()).toBe('\r\u001B[K');
  });

  it('is not shown where stderr is a file or a pipe', () => {
    const { text, progress, time } = drawnOn(false);
    time.advance(1000);
    progress.update(50, 1);
    progress.end();
    expect(text()).toBe('');
  });
});
