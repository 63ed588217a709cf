import { expect, it, onTestFinished } from 'vitest';
import { ExampleServer } from './example-server.ts';

it('the example observed shows its decisions to Prometheus, and who is denied most to its operator', async () => {
  const server = await ExampleServer.start('observed');
  onTestFinished(() => void server.stop());
  const statuses = await Promise.all(Array.from({ length: 200 }, async () => (await fetch(server.url)).status));
  const denied = statuses.filter((status) => status === 429).length;
  expect(denied).toBeGreaterThan(10);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain(`sluice_limit_denials_total{limit="Requests",kind="rate",shadow="false"} ${denied}\n`);
  expect(metrics).toContain('# TYPE sluice_queue_length gauge\nsluice_queue_length{limit="Reports"} 0\n');
  expect(await (await fetch(`${server.url}/top`)).json()).toMatchObject([{ denials: denied, error: 0 }]);
  expect(await server.stop()).toBe(0);
});
