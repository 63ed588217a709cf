import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { CountedTime } from '../../../packages/core/test/support/counted-time.ts';
import { rejected } from '../../../packages/core/test/support/thrown.ts';
import { FileSignatures } from '../src/live/file-signatures.ts';
import { folder, LIMITS, written } from './written-files.ts';
import { becomes, countOf, nextAlarm, passUntil, watched, LIMIT, withCount } from './watched.ts';

describe('a change of a file is loaded', () => {
  it('when the file is written in place', async () => {
    const { defaults } = written({});
    const { limiter, live, time, loaded, events, lines } = await watched({ defaults });
    writeFileSync(defaults, withCount(301));
    await expect(becomes({ limiter, time }, 301)).resolves.toBe(true);
    const { version, loadedAt, lastError } = live.status();
    expect(version).not.toBe(loaded.version);
    expect(loadedAt.getTime()).toBe(time.wallNow());
    expect(lastError).toBeUndefined();
    const message = `limits reloaded (version ${version})`;
    expect(events).toEqual([{ type: 'limits-reloaded', version, message }]);
    expect(lines).toEqual([`Sluice: ${message}`]);
  });

  it('when another file is renamed over it, each time', async () => {
    const { defaults, dir } = written({});
    const subject = await watched({ defaults });
    for (const count of [301, 302]) {
      writeFileSync(join(dir, 'new'), withCount(count));
      renameSync(join(dir, 'new'), defaults);
      await expect(becomes(subject, count)).resolves.toBe(true);
    }
  });

  it('when a link in its path is replaced, as Kubernetes does', async () => {
    const dir = folder();
    const version = (name: string, count: number): void => {
      mkdirSync(join(dir, name));
      writeFileSync(join(dir, name, 'limits.yaml'), withCount(count));
      symlinkSync(name, join(dir, '..data_tmp'));
      renameSync(join(dir, '..data_tmp'), join(dir, '..data'));
    };
    version('..1', 300);
    symlinkSync(join('..data', 'limits.yaml'), join(dir, 'limits.yaml'));
    const subject = await watched({ defaults: join(dir, 'limits.yaml') });
    for (const count of [301, 302]) {
      version(`..${count}`, count);
      await expect(becomes(subject, count)).resolves.toBe(true);
    }
  });

  it('and it is checked again and again while nothing changes', async () => {
    const { defaults } = written({});
    const { live, time, loaded, events } = await watched({ defaults }, { everyMs: 100 });
    await passUntil(time, () => live.status().checkedAt !== loaded.loadedAt);
    for (let look = 1; look <= 3; look++) {
      time.advance(100);
      // The real file system answers in real time.
      await vi.waitFor(() => expect(live.status().checkedAt).toEqual(new Date(time.wallNow())));
    }
    expect(events).toEqual([]);
    expect(live.status().version).toBe(loaded.version);
  });

  it('when it is deleted and created again', async () => {
    const { defaults } = written({});
    const { limiter, live, time, events } = await watched({ defaults });
    rmSync(defaults);
    await passUntil(time, () => live.status().lastError?.message.includes('The file does not exist'));
    expect(live.status().failingSince).toEqual(new Date(time.wallNow()));
    expect(await countOf(limiter)).toBe(300);
    writeFileSync(defaults, LIMITS);
    await passUntil(time, () => live.status().lastError === undefined);
    expect(events.map(({ type }) => type)).toEqual(['limits-rejected', 'limits-restored']);
    expect(live.status().failingSince).toBeUndefined();
  });
});

describe('a change of overrides is loaded:', () => {
  const override = (count: number): string => `- ${LIMIT}: { count: ${count}, period: 180m, ids: [1] }\n`;

  it('raising, lowering, adding and deleting the last one all take effect', async () => {
    const { defaults, overrides } = written({ overrides: override(400) });
    const { limiter, live } = await watched({ defaults, overrides }, { everyMs: false });
    for (const [text, count] of [
      [override(500), 500],
      [override(200), 200],
      ['[]', 300],
      [override(7), 7],
    ] as const) {
      writeFileSync(overrides, text);
      await live.reload();
      expect(await countOf(limiter)).toBe(count);
    }
  });

  it('a bucket keeps its state: a raised limit takes effect at once, a lowered one allows at most its burst', async () => {
    const numbers = (burst: number): string => LIMITS.replace('burst: 300, count: 300', `burst: ${burst}, count: 1`);
    const { defaults } = written({ limits: numbers(10) });
    const { limiter, live } = await watched({ defaults }, { everyMs: false });
    const take = async (cost: number): Promise<boolean> =>
      (await limiter.spend([{ limit: LIMIT, id: '1', cost }])).allowed;
    const follow = (burst: number): Promise<unknown> => (writeFileSync(defaults, numbers(burst)), live.reload());
    expect([await take(10), await take(1)]).toEqual([true, false]);
    await follow(15);
    expect([await take(5), await take(1)]).toEqual([true, false]);
    await limiter.reset([{ limit: LIMIT, id: '1' }]);
    await follow(3);
    expect([await take(3), await take(1)]).toEqual([true, false]);
  });
});

describe('a bad file', () => {
  it('leaves the last good limits in use, is logged once, and is recovered from when it is good again', async () => {
    const { defaults } = written({});
    const { limiter, live, lines, loaded } = await watched({ defaults }, { everyMs: false });
    writeFileSync(defaults, withCount(0));
    await live.reload();
    const { lastError, failingSince, version } = await live.reload();
    expect(version).toBe(loaded.version);
    expect(lastError?.message).toContain(`${defaults}:4:43: \`${LIMIT}.count\` must be a whole number`);
    expect(failingSince).toBeInstanceOf(Date);
    expect(await countOf(limiter)).toBe(300);
    expect(lines).toEqual([`Sluice: limits NOT reloaded; still using version ${version}. ${lastError?.message}`]);
    writeFileSync(defaults, withCount(-1));
    expect((await live.reload()).failingSince).toBe(failingSince);
    expect(lines).toHaveLength(2);
    writeFileSync(defaults, withCount(302));
    expect((await live.reload()).lastError).toBeUndefined();
    expect(await countOf(limiter)).toBe(302);
    expect(lines).toHaveLength(3);
  });

  it('that is completed a moment later is never reported', async () => {
    const { defaults } = written({});
    const { limiter, time, events } = await watched({ defaults }, { everyMs: false });
    const quiet = new FileSignatures([defaults], time).quiet();
    for (let half = 1; half <= 3; half++) {
      await nextAlarm(time);
      writeFileSync(defaults, `${LIMITS}${'Half'.repeat(half)}`);
      time.advance(250);
    }
    await nextAlarm(time);
    writeFileSync(defaults, withCount(301));
    time.advance(250);
    await nextAlarm(time);
    time.advance(250);
    expect(await quiet).toBe(await new FileSignatures([defaults], time).now());
    expect([await countOf(limiter), events]).toEqual([300, []]);
  });

  it('is not read half-written when it is written slowly', async () => {
    const { defaults, overrides } = written({ overrides: '[]' });
    const { limiter, time, events } = await watched({ defaults, overrides }, { everyMs: 60_000 });
    writeFileSync(overrides, '');
    time.advance(60_000);
    for (let id = 1; id <= 12; id++) {
      await nextAlarm(time);
      appendFileSync(overrides, `- ${LIMIT}: { count: 5, period: 1s, ids: [${id}] }\n`);
      time.advance(250);
    }
    await passUntil(time, async () => (await countOf(limiter, '12')) === 5);
    expect(events.map(({ type }) => type)).toEqual(['limits-reloaded']);
  });

  it('or a good one that is written all the time is read after ten seconds', async () => {
    const { defaults } = written({});
    const time = new CountedTime();
    const quiet = new FileSignatures([defaults], time).quiet();
    for (let ms = 0; ms < 10_000; ms += 250) {
      await nextAlarm(time);
      appendFileSync(defaults, '#\n');
      time.advance(250);
    }
    expect(await quiet).toMatch(/^\d/);
  });

  it('or any file for a closed limiter is rejected, and watching ends', async () => {
    const { defaults } = written({});
    const { limiter, live, loaded } = await watched({ defaults }, { everyMs: false });
    await limiter.close();
    writeFileSync(defaults, withCount(301));
    const { lastError, version } = await live.reload();
    expect(lastError).toMatchObject({ code: 'ERR_CLOSED' });
    expect(version).toBe(loaded.version);
    expect(await rejected(() => live.reload())).toMatchObject({ message: expect.stringMatching(/^These live limits/) });
  });
});
