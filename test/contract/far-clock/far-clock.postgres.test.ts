import { postgresStore } from '@sluice/postgres';
import { ownPostgresServer } from '../../postgres/postgres-server.ts';
import { inYear } from '../../redis/servers/shifted-server.ts';
import { keepsWordOnFarClocks } from './far-clock.ts';

keepsWordOnFarClocks(async (year) => {
  const { url } = await inYear(year, () => ownPostgresServer());
  return postgresStore({ connectionString: url });
});
