import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bundled } from './first-program.ts';

const PLAIN = `import { createLimiter, everyone } from '@sluice/core'; createLimiter({ limits: { Api: { key: everyone(), count: 1, period: '1s' } } });`;
const WITH = `${PLAIN} import { createScheduler } from '@sluice/core/scheduler'; console.log(createScheduler);`;

test('a program that schedules nothing loads nothing of the scheduler', async () => {
  const isOfScheduler = (path: string): boolean => path.includes('/core/src/scheduler/');
  expect((await bundled(PLAIN)).modules.filter(isOfScheduler)).toEqual([]);
  const modules = (await bundled(WITH)).modules.filter(isOfScheduler);
  expect(modules.length).toBeGreaterThan(10);
  expect(Math.max(...modules.map((path) => readFileSync(path, 'utf8').split('\n').length))).toBeLessThan(300);
});
