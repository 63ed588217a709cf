import { createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import { KEY, limiterOf, NUMBERS, testRemedies, type Options } from './remedies.ts';

const limitWith = (given: Options) => limiterOf({ limits: { Orders: { key: KEY, ...NUMBERS, ...given } } });

testRemedies({
  'a burst as a bigint': {
    make: limitWith,
    options: { burst: 5n },
    message: '`limits.Orders.burst` must be a whole number from 1 to 1000000000, but was 5n. Write burst: 5.',
    remedy: 'burst: 5',
  },
  'a period in weeks': {
    make: limitWith,
    options: { period: '2 weeks' },
    message:
      "`limits.Orders.period` must be a duration of whole microseconds from 1ms to 366 days, but was '2 weeks'. Write period: '14d'.",
    remedy: "period: '14d'",
  },
  'a period in capitals': {
    make: limitWith,
    options: { period: '1 Hour' },
    message:
      "`limits.Orders.period` must be a duration of whole microseconds from 1ms to 366 days, but was '1 Hour'. Write period: '1h'.",
    remedy: "period: '1h'",
  },
  'a period of too many weeks': {
    make: limitWith,
    options: { period: '60 weeks' },
    message:
      "`limits.Orders.period` must be a duration of whole microseconds from 1ms to 366 days, but was '60 weeks'. Write a string with its unit, such as '500ms', '1s', '1h30m' or '7d', or a number of milliseconds from 1000 up.",
  },
  'a quota that is no quota': {
    make: (given) => limiterOf({ limits: { Orders: given } }),
    options: { key: KEY, count: 1000, per: 'month' },
    message:
      "`limits.Orders.per` is an option of a quota, which is made by a function. Write import { quota } from '@sluice/core/quota'; and quota({ key, count: 1000, per: 'month' }).",
  },
  'an option of a concurrency limit alone': {
    make: limitWith,
    options: { expiry: '10s' },
    message:
      "`limits.Orders.expiry` is an option of a concurrency limit, which is made by a function. Write import { concurrency } from '@sluice/core/concurrency'; and concurrency({ key, count: 2, period: '1m', expiry: '10s' }); or leave it out.",
  },
  'no options of createLimiter': {
    make: (given) => createLimiter(given as never),
    options: undefined,
    message:
      "`createLimiter` must be an object, but was undefined. For example createLimiter({ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } }).",
    remedy: "{ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } }",
  },
  'a limit as text': {
    make: (given) => limiterOf({ limits: { Orders: given } }),
    options: '5/s',
    message:
      "`limits.Orders` must be an object, but was '5/s'. For example { key: clientNetwork(), count: 100, period: '1m' }.",
    remedy: "{ key: clientNetwork(), count: 100, period: '1m' }",
  },
  'a policy in the place of failure': {
    make: limiterOf,
    options: { failure: 'closed' },
    message: "`failure` must be an object, but was 'closed'. For example failure: { onFailure: 'closed' }.",
    remedy: "failure: { onFailure: 'closed' }",
  },
  'another text in the place of failure': {
    make: limiterOf,
    options: { failure: 'shut' },
    message: "`failure` must be an object, but was 'shut'. For example failure: { onFailure: 'open' }.",
    remedy: "failure: { onFailure: 'open' }",
  },
  'a deadline with a unit': {
    make: (failure) => limiterOf({ failure }),
    options: { deadlineMs: '50ms' },
    message: "`failure.deadlineMs` must be a whole number from 1 to 60000, but was '50ms'. Write deadlineMs: 50.",
    remedy: 'deadlineMs: 50',
  },
  'a deadline in seconds': {
    make: limiterOf,
    options: { overridesDeadlineMs: '1s' },
    message:
      "`overridesDeadlineMs` must be a whole number from 1 to 60000, but was '1s'. Write overridesDeadlineMs: 1000.",
    remedy: 'overridesDeadlineMs: 1000',
  },
  'a deadline out of range': {
    make: (failure) => limiterOf({ failure }),
    options: { deadlineMs: 0 },
    message: '`failure.deadlineMs` must be a whole number from 1 to 60000, but was 0. For example deadlineMs: 50.',
    remedy: 'deadlineMs: 50',
  },
  'a policy with a typo': {
    make: limitWith,
    options: { onFailure: 'close' },
    message:
      "`limits.Orders.onFailure` must be 'local' or 'closed' or 'open', but was 'close'. Write onFailure: 'closed'.",
    remedy: "onFailure: 'closed'",
  },
  'a policy that is not text': {
    make: limitWith,
    options: { onFailure: true },
    message:
      "`limits.Orders.onFailure` must be 'local' or 'closed' or 'open', but was true. For example onFailure: 'local'.",
    remedy: "onFailure: 'local'",
  },
  'trusted proxies as one text': {
    make: limiterOf,
    options: { trustedProxies: 'loopback' },
    message:
      "`trustedProxies` must be a list of networks and names, but was 'loopback'. Write trustedProxies: ['loopback'].",
    remedy: "trustedProxies: ['loopback']",
  },
  'trusted proxies that include everyone': {
    make: limiterOf,
    options: { trustedProxies: true },
    message:
      "`trustedProxies` must be a list of networks and names, but was true. List your proxies, e.g. trustedProxies: ['loopback']. To trust all hops, or a number of them, would let clients choose their own address.",
    remedy: "trustedProxies: ['loopback']",
  },
  'a logger as log': {
    make: limiterOf,
    options: { log: {} },
    message: '`log` must be a function of a line, or false, but was {}. For example log: (line) => logger.warn(line).',
    remedy: 'log: (line) => logger.warn(line)',
  },
  'a limiter without limits': {
    make: (given) => rateLimit({ limiter: createLimiter({ limits: {}, ...given }) } as never),
    options: {},
    message:
      "`limiter` must have a limit, but has none. For example createLimiter({ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } }).",
    remedy: "limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } }",
  },
});
