import { flowSettings } from '@sluice/core/http';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { expect, test } from 'vitest';
import { Registration } from '../src/registration.ts';
import type { SettleArgs } from '../src/route-limits.ts';
import { limiterOf } from './app.ts';

test.each([
  [false, ['Orders']],
  [true, ['Flood', 'Orders']],
])('the settings of a route with limits are made once, not for each request: always %s', (always, names) => {
  const options = { limiter: limiterOf({ Flood: 9, Orders: 9 }), limits: ['Flood'] };
  const base = flowSettings<FastifyRequest, SettleArgs>(options, []);
  const registration = new Registration({
    base,
    hook: 'onRequest',
    global: true,
    always,
    isBare: false,
    defaults: undefined,
  });
  const route = { url: '/', config: { rateLimit: { limits: ['Orders'] } } } as unknown as RouteOptions;
  registration.meet(route);
  const request = { routeOptions: route } as unknown as FastifyRequest;
  const settings = registration.settingsAt('onRequest', request);
  expect(settings.flatMap(({ uses }) => uses.map(({ limit }) => limit))).toEqual(names);
  expect(registration.settingsAt('onRequest', request)).toBe(settings);
});
