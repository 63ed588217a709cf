import { afterEach } from 'vitest';
import { running } from '../../redis/servers/running.ts';
import { BETTER_AUTH_IN_DATABASE, BETTER_AUTH_IN_MEMORY, betterAuthUsages } from './usages/better-auth.ts';
import { usagesCompared } from './usages/compared.ts';
import { expressUsages } from './usages/express-rate-limit.ts';
import { fastifyUsages } from './usages/fastify-rate-limit.ts';
import { honoUsages } from './usages/hono-rate-limiter.ts';
import { mcpUsages } from './usages/mcp-sdk.ts';
import { EXPRESS_RATE_LIMITS } from './usages/peers.ts';

afterEach(() => running.closeAllBut());

usagesCompared([
  ...EXPRESS_RATE_LIMITS.map((name) => [name, expressUsages(name)] as const),
  ['@fastify/rate-limit', fastifyUsages()],
  ['hono-rate-limiter', honoUsages()],
  ['the auth router of the MCP SDK', mcpUsages()],
  ['better-auth in memory', betterAuthUsages(BETTER_AUTH_IN_MEMORY)],
  ['better-auth in its database', betterAuthUsages(BETTER_AUTH_IN_DATABASE)],
]);
