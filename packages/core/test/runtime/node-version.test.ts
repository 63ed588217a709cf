import { expect, test } from 'vitest';
import { leavesOpenIn } from '../../src/runtime/node-version.ts';

test.each([
  [true, ['20.19.0', '20.99.0', '22.12.0', '22.22.2', '23.11.1', '24.0.0', '24.16.0', '25.9.0', '26.0.0']],
  [false, ['22.23.0', '22.99.1', '24.17.0', '26.1.0', '26.10.0', '27.0.0', '28.1.0']],
])('whether Node leaves sessions open after errors of their clients: %s for %j', (leavesOpen, versions) => {
  for (const version of versions) expect([version, leavesOpenIn(version)]).toEqual([version, leavesOpen]);
});
