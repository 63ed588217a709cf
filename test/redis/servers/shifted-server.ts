import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Moves the clock of a program by SHIFT_SECONDS. */
const SOURCE = `
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static time_t shift(void) { const char *s = getenv("SHIFT_SECONDS"); return s ? atol(s) : 0; }
int clock_gettime(clockid_t clock, struct timespec *t) {
  int r = syscall(SYS_clock_gettime, clock, t);
  if (r == 0 && clock == CLOCK_REALTIME) t->tv_sec += shift();
  return r;
}
int gettimeofday(struct timeval *t, void *zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  t->tv_sec = now.tv_sec;
  t->tv_usec = now.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *t) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}
`;

/** Whether the clock of a server can be moved here: it takes Linux and a C compiler. */
export const canShift: boolean = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;

let library: string | undefined;

function built(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-shift-'));
  chmodSync(folder, 0o755);
  const [source, shared] = [join(folder, 'shift.c'), join(folder, 'shift.so')];
  writeFileSync(source, SOURCE);
  execFileSync('cc', ['-shared', '-fPIC', '-o', shared, source]);
  return shared;
}

/** Starts a server whose clock reads the first of July of a year. */
export async function inYear<T>(year: number, start: () => Promise<T>): Promise<T> {
  if (library === undefined || !existsSync(library)) library = built();
  const seconds = Math.round((Date.UTC(year, 6, 1, 12) - Date.now()) / 1000);
  Object.assign(process.env, { LD_PRELOAD: library, SHIFT_SECONDS: String(seconds) });
  try {
    return await start();
  } finally {
    delete process.env['LD_PRELOAD'];
    delete process.env['SHIFT_SECONDS'];
  }
}
