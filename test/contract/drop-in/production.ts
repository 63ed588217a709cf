// better-auth as it is in production: prints its answers to clients of which it knows no address, with its own storage and
// with ours, and what ours reports.
import type { LimiterEvent } from '@sluice/core';
import { rateLimitStorage } from '@sluice/drop-in/better-auth';
import { BETTER_AUTH_IN_MEMORY, betterAuthUsages, UNKNOWN_CLIENTS } from './usages/better-auth.ts';

const events: LimiterEvent[] = [];
const ours = rateLimitStorage({ log: false, onEvent: (event) => void events.push(event) });
const [usage] = betterAuthUsages({ ...BETTER_AUTH_IN_MEMORY, ours: () => ours }, [UNKNOWN_CLIENTS]);
console.log(JSON.stringify({ own: await usage!.answers(false), ours: await usage!.answers(true), events }));
