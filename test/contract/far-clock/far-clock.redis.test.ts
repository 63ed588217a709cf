import { redisStore } from '@sluice/redis';
import { argsOf, serverWith } from '../../redis/servers/redis-server.ts';
import { inYear } from '../../redis/servers/shifted-server.ts';
import { keepsWordOnFarClocks } from './far-clock.ts';

keepsWordOnFarClocks(async (year) => {
  const { url } = await inYear(year, () => serverWith(argsOf({})));
  return redisStore({ url, log: false, rememberDenialsMs: 0 });
});
