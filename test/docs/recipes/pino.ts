import { rateLimit } from '@sluice/express';
import express, { type Express } from 'express';
import type { Logger } from 'pino';

/** `limitedApp(pino()).listen(3000)` */
export function limitedApp(logger: Logger): Express {
  return express().use(rateLimit({ count: 100, period: '1m', log: (line) => logger.warn(line) }));
}
